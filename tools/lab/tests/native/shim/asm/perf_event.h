/* SPDX-License-Identifier: GPL-2.0-only */
void intel_pt_handle_vmx(int on);
