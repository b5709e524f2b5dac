import { httpStatus } from '@behalf/contracts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { Audit, AuditEvent } from './audit.ts';

export interface AuditedResult<T> {
  readonly result: T;
  /** The names of the changed fields. Empty: nothing changed, so no event is recorded. Absent: the whole object is new or gone. */
  readonly changed?: readonly string[] | undefined;
}

/** Event fields that `work` fills in as it learns them. They are recorded for a success and for a failure. */
export type AuditDetails = { -readonly [K in 'server' | 'serverId' | 'subject' | 'changed']?: AuditEvent[K] };

type AuditedEvent = Omit<AuditEvent, 'kind' | 'outcome' | 'code' | 'changed'> & {
  readonly kind: 'config' | 'permission' | 'credential';
};

/**
 * Runs a change of the configuration, of permissions or of credentials with its audit event. A success is in the store before
 * the caller sees it. A refusal or failure is noted without a delay.
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
