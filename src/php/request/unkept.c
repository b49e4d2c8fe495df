#include "unkept.h"

/* The opcodes after a call show what the caller does with the result. If the lease is tested and dropped, an opcode
 * looks at its operand and frees it. If the lease is assigned, stored, passed, captured or asked, the opcode is another
 * one. So a lease that is kept causes no warning.
 *
 * A dropped lease is not kept until the end of the request instead. `if ($locks->tryAcquire('x'))` may only ask whether
 * the lock is free, and a bare acquire() may only wait until it is. A worker's request may never end. Such code would
 * hold the lock without a variable by which to release it. */

enum { MOST_STEPS = 16 };

static bool is_call(const zend_op *op)
{
	return op->opcode == ZEND_DO_FCALL || op->opcode == ZEND_DO_FCALL_BY_NAME || op->opcode == ZEND_DO_ICALL
		|| op->opcode == ZEND_DO_UCALL;
}

static bool takes(const zend_op *op, const zend_op *from)
{
	return (op->op1_type & (IS_TMP_VAR | IS_VAR)) && op->op1.var == from->result.var;
}

/* The opcode that runs after this one, without opcodes that do nothing with a result. */
static const zend_op *next_after(const zend_op *op)
{
	op++;
	for (int steps = 0; steps < MOST_STEPS; steps++) {
		switch (op->opcode) {
		case ZEND_NOP:
		case ZEND_EXT_FCALL_END:
		case ZEND_END_SILENCE:
			op++;
			break;
		case ZEND_JMP:
			op = OP_JMP_ADDR(op, op->op1);
			break;
		default:
			return op;
		}
	}
	return op;
}

/* Only with a constant: a comparison with another lease asks about the lease. */
static bool is_comparison(const zend_op *op, const zend_op *from)
{
	return (takes(op, from) && op->op2_type == IS_CONST)
		|| (op->op1_type == IS_CONST && (op->op2_type & (IS_TMP_VAR | IS_VAR)) && op->op2.var == from->result.var);
}

/* Functions that look at an argument and do not keep it, if PHP has not compiled them to opcodes. */
static bool is_test_function(const zend_function *function)
{
	static const char *const tests[] = { "assert", "boolval", "is_null", "is_object" };

	for (size_t i = 0;
		 function->type == ZEND_INTERNAL_FUNCTION && !function->common.scope && i < sizeof tests / sizeof *tests; i++) {
		if (!strcmp(ZSTR_VAL(function->common.function_name), tests[i])) {
			return true;
		}
	}
	return false;
}

/* Does the opcode look at the result of `from`, and free it? */
static bool drops(const zend_op *op, const zend_op *from, const zend_execute_data *frame)
{
	switch (op->opcode) {
	case ZEND_FREE:
#ifdef ZEND_FREE_VOID_CAST
		if (op->extended_value & ZEND_FREE_VOID_CAST) { /* a (void) cast: the program means to drop it */
			return false;
		}
#endif
		return takes(op, from);
	case ZEND_BOOL:
	case ZEND_BOOL_NOT:
	case ZEND_BOOL_XOR:
	case ZEND_JMPZ:
	case ZEND_JMPNZ:
	case ZEND_JMPZ_EX:
	case ZEND_JMPNZ_EX:
#ifdef ZEND_JMPZNZ
	case ZEND_JMPZNZ:
#endif
	case ZEND_TYPE_CHECK:
	case ZEND_INSTANCEOF:
		return takes(op, from);
	case ZEND_IS_EQUAL:
	case ZEND_IS_NOT_EQUAL:
	case ZEND_IS_IDENTICAL:
	case ZEND_IS_NOT_IDENTICAL:
		return is_comparison(op, from);
	case ZEND_SEND_VAL:
	case ZEND_SEND_VAL_EX:
	case ZEND_SEND_VAR:
	case ZEND_SEND_VAR_EX:
	case ZEND_SEND_VAR_NO_REF:
	case ZEND_SEND_VAR_NO_REF_EX:
		return takes(op, from) && frame->call && is_test_function(frame->call->func);
	default:
		return false;
	}
}

/* Follows the result of the call through copies, such as that of `??`. */
static bool is_dropped(const zend_execute_data *frame)
{
	const zend_op *from = frame->opline, *op = next_after(from);

	if (from->result_type == IS_UNUSED) {
		return PHP_VERSION_ID < 80500; /* later PHP has warned already (#[\NoDiscard]) */
	}
	for (int steps = 0; steps < MOST_STEPS && takes(op, from); steps++) {
		switch (op->opcode) {
		case ZEND_COALESCE:
		case ZEND_JMP_SET:
			from = op;
			op = OP_JMP_ADDR(op, op->op2);
			break;
		case ZEND_QM_ASSIGN:
			from = op;
			op = next_after(op);
			break;
		default:
			return drops(op, from, frame);
		}
	}
	return drops(op, from, frame);
}

/* Does the function return the result of its call straight to its own caller? */
static bool is_forwarded(const zend_op *call)
{
	const zend_op *op = next_after(call);

	if (op->opcode == ZEND_VERIFY_RETURN_TYPE && takes(op, call)) {
		op = next_after(op);
	}
	return (call->result_type & (IS_TMP_VAR | IS_VAR)) && op->opcode == ZEND_RETURN && takes(op, call);
}

static bool is_calling(const zend_execute_data *frame)
{
	return frame && frame->func && ZEND_USER_CODE(frame->func->type) && is_call(frame->opline);
}

void dlock_warn_if_unkept(const dlock_claim *claim)
{
	const zend_execute_data *frame = EG(current_execute_data)->prev_execute_data;
	dlock_error error;

	while (is_calling(frame) && is_forwarded(frame->opline)) {
		frame = frame->prev_execute_data;
	}
	if (!is_calling(frame) || !is_dropped(frame)) {
		return;
	}
	dlock_fail(&error, DLOCK_OK,
		"The lock \"%s\" is released at once, because nothing keeps its Lease: "
		"assign it to a variable, as in $lease = ...",
		dlock_claim_name(claim).text);
	php_error_docref(NULL, E_WARNING, "%s", error.message);
}

void dlock_unkept_register(zend_class_entry *class)
{
#ifdef ZEND_ACC_NODISCARD
	static const char *const methods[] = { "acquire", "tryacquire", "attach" };

	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		zend_function *method = zend_hash_str_find_ptr(&class->function_table, methods[i], strlen(methods[i]));
		if (method) {
			method->common.fn_flags |= ZEND_ACC_NODISCARD;
		}
	}
#else
	(void) class;
#endif
}
