// SPDX-License-Identifier: GPL-2.0-only
/* maps COUNT: map a page of this program as code, again and again; each is a record for perf. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1, fd = open("/proc/self/exe", O_RDONLY);

	while (count--) {
		void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (page == MAP_FAILED)
			return 1;
		munmap(page, 4096);
	}
	return 0;
}
