#ifndef SIM_STACKS_H
#define SIM_STACKS_H

/* Several stacks in one thread. swapcontext() would ask the kernel for the signal mask each time, and nothing here
 * changes it. */

#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define __asan_unpoison_memory_region(memory, size) ((void) (memory), (void) (size))
#endif

#ifdef __x86_64__

typedef struct {
	void *at; /* the saved registers, and after them the return address */
} stack_context;

void stack_switch(stack_context *from, const stack_context *to);

__asm__(
	".text\n"
	".type stack_switch, @function\n"
	"stack_switch:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov (%rsi), %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n"
	"	ret\n"
	".size stack_switch, . - stack_switch\n");

static inline void stack_begin(stack_context *c, char *stack, size_t size, void (*run)(void))
{
	void **top = (void **) (stack + size) - 1; /* as after a call: 8 bytes off from a multiple of 16 */

	__asan_unpoison_memory_region(stack, size); /* earlier frames there have not returned */
	*top = NULL;
	*--top = (void *) run;
	c->at = top - 6;
}

#else

#include <ucontext.h>

typedef ucontext_t stack_context;

static inline void stack_switch(stack_context *from, const stack_context *to)
{
	swapcontext(from, to);
}

static inline void stack_begin(stack_context *c, char *stack, size_t size, void (*run)(void))
{
	__asan_unpoison_memory_region(stack, size);
	getcontext(c);
	c->uc_stack.ss_sp = stack;
	c->uc_stack.ss_size = size;
	c->uc_link = NULL;
	makecontext(c, run, 0);
}

#endif

#endif
