import { httpStatus } from '@behalf/contracts';
import type { Audit, AuditEvent } from '../audit/audit.ts';
import { GatewayError } from '../errors/gatewayError.ts';

export interface Done<T> {
  readonly result: T;
  /** The names of what changed. Empty: nothing did, and there is nothing to tell; absent: all of it. */
  readonly changed?: readonly string[] | undefined;
}

/** What is learnt on the way, and told whatever becomes of the attempt. */
export type Trail = { -readonly [K in 'server' | 'serverId' | 'subject' | 'changed']?: AuditEvent[K] };

type Attempt = Omit<AuditEvent, 'kind' | 'outcome' | 'code' | 'changed'> & {
  readonly kind: 'config' | 'permission' | 'credential';
};

/**
 * Work on the configuration, on people's rights or on their credentials: told of durably before it is acknowledged, and told
 * of as well when it is refused.
 */
export async function recorded<T>(
  audit: Pick<Audit, 'record' | 'note'>,
  attempt: Attempt,
  work: (trail: Trail) => Promise<Done<T>>,
): Promise<T> {
  const trail: Trail = {};
  let done: Done<T>;
  try {
    done = await work(trail);
  } catch (error) {
    const code = error instanceof GatewayError ? error.code : 'INTERNAL';
    const outcome = httpStatus(code) < 500 ? 'refused' : 'failed';
    audit.note({ ...attempt, ...trail, outcome, code });
    throw error;
  }
  const { result, changed } = done;
  if (changed?.length !== 0) await audit.record({ ...attempt, ...trail, outcome: 'ok', changed });
  return result;
}
