import { type Principal, principalKey } from '@behalf/gateway';
import type { Keyring, SealContext } from '@behalf/kernel';

/** Identifies a session, or a suspended call, and its user in the coordination store. */
export interface SessionKey {
  readonly tenant: string;
  /** The `principalKey` of the user. */
  readonly principal: string;
  readonly key: string;
}

/** The context of values that one user holds, for example session ids. A value sealed for another user does not open. */
export function callerSealContext(
  caller: Principal,
  kind: string,
  field: string,
  binding: readonly string[],
): SealContext {
  const { tenant } = caller;
  return { tenant, principal: principalKey(caller), server: '-', kind, field, binding };
}

/** The context of values that belong to one session, for example event ids and relayed messages. */
export function sessionSealContext(
  { tenant, principal, key }: SessionKey,
  kind: string,
  field = 'id',
): SealContext {
  return { tenant, principal, server: '-', kind, field, binding: [key] };
}

/**
 * Opens a sealed JSON value that a client sent. Undefined for a value of another user or context, of a removed key, and for
 * anything that the gateway did not seal: the client cannot distinguish these cases.
 */
export function openJson(
  keyring: Pick<Keyring, 'open'>,
  text: unknown,
  context: SealContext,
  maxLength: number,
): unknown {
  if (typeof text !== 'string' || text.length > maxLength) return undefined;
  try {
    return JSON.parse(keyring.open(text, context));
  } catch {
    return undefined;
  }
}
