import { httpStatus } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Audit, AuditEvent } from './audit.ts';

export interface AuditedResult<T> {
  readonly result: T;
  /** The names of what changed. Empty: nothing did, and there is nothing to tell; absent: all of it. */
  readonly changed?: readonly string[] | undefined;
}

/** What is learnt on the way, and told whatever becomes of the attempt. */
export type AuditDetails = { -readonly [K in 'server' | 'serverId' | 'subject' | 'changed']?: AuditEvent[K] };

type AuditedEvent = Omit<AuditEvent, 'kind' | 'outcome' | 'code' | 'changed'> & {
  readonly kind: 'config' | 'permission' | 'credential';
};

/**
 * Work on the configuration, on people's rights or on their credentials: told of durably before it is acknowledged, and told
 * of as well when it is refused.
 */
export async function withAudit<T>(
  audit: Pick<Audit, 'record' | 'note'>,
  event: AuditedEvent,
  work: (details: AuditDetails) => Promise<AuditedResult<T>>,
): Promise<T> {
  const details: AuditDetails = {};
  let audited: AuditedResult<T>;
  try {
    audited = await work(details);
  } catch (error) {
    const code = error instanceof GatewayError ? error.code : 'INTERNAL';
    const outcome = httpStatus(code) < 500 ? 'refused' : 'failed';
    audit.note({ ...event, ...details, outcome, code });
    throw error;
  }
  const { result, changed } = audited;
  if (changed?.length !== 0) await audit.record({ ...event, ...details, outcome: 'ok', changed });
  return result;
}
