// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program that "make run" traces: small, but with what makes a call trace
 * worth reading. It evaluates expressions by recursive descent, calls
 * functions through a table, lets qsort() call back, and ends a computation
 * early with longjmp().
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text;
static jmp_buf syntax_error;

static long expression(void);

static long number(void)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text)
		longjmp(syntax_error, 1);
	text = end;
	return value;
}

static long factor(void)
{
	long value;

	if (*text != '(')
		return number();
	text++;
	value = expression();
	if (*text++ != ')')
		longjmp(syntax_error, 1);
	return value;
}

static long add(long a, long b) { return a + b; }
static long subtract(long a, long b) { return a - b; }
static long multiply(long a, long b) { return a * b; }

static const struct operator {
	char sign;
	int binding;
	long (*apply)(long a, long b);
} operators[] = {
	{ '+', 1, add }, { '-', 1, subtract }, { '*', 2, multiply },
};

static const struct operator *operator_of(char sign)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (operators[i].sign == sign)
			return &operators[i];
	return NULL;
}

static long climb(long left, int binding)
{
	const struct operator *op;

	while ((op = operator_of(*text)) && op->binding >= binding) {
		const struct operator *next;
		long right;

		text++;
		right = factor();
		while ((next = operator_of(*text)) && next->binding > op->binding)
			right = climb(right, next->binding);
		left = op->apply(left, right);
	}
	return left;
}

static long expression(void)
{
	return climb(factor(), 1);
}

static void evaluate(const char *input)
{
	long value;

	text = input;
	if (setjmp(syntax_error)) {
		printf("%s: no expression\n", input);
		return;
	}
	value = expression();
	printf("%s = %ld\n", input, value);
}

static int by_length(const void *a, const void *b)
{
	const char *const *one = a, *const *other = b;

	return (int)strlen(*one) - (int)strlen(*other);
}

int main(void)
{
	const char *inputs[] = { "2*(3+4)*5", "1+2*3-4", "7", "2*(3+", "(1+1)*(2+2)" };
	size_t count = sizeof(inputs) / sizeof(inputs[0]);

	for (size_t i = 0; i < count; i++)
		evaluate(inputs[i]);
	qsort(inputs, count, sizeof(inputs[0]), by_length);
	printf("the shortest one: %s\n", inputs[0]);
	return 0;
}
