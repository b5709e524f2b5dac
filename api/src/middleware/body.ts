import { GatewayError } from '@behalf/gateway';
import type { Request } from 'express';

/** What is needed of a contract's schema. */
interface BodySchema<T> {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: { path: PropertyKey[]; code: string; message: string }[] } };
}

export function readBody<T>(req: Request, schema: BodySchema<T>): T {
  return parseBody(req.body, schema);
}

/** The body as the schema says, or REQUEST_INVALID with every field that is wrong. */
export function parseBody<T>(body: unknown, schema: BodySchema<T>): T {
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  throw new GatewayError('REQUEST_INVALID', {
    errors: parsed.error.issues.map(({ path, code, message }) => ({
      path: path.map(String).join('.'),
      code,
      message,
    })),
  });
}

/** A plain HTML form wants a page back, a program wants JSON. */
export function isForm(req: Request): boolean {
  return typeof req.is('application/x-www-form-urlencoded') === 'string';
}
