/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_TOPOLOGY_H
#define SHIM_LINUX_TOPOLOGY_H

#define cpu_to_node(cpu)	(cpu)

#endif
