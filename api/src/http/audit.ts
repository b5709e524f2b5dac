import { type Audit, type AuditEvent, type Principal, actorOf } from '@behalf/gateway';

/** Records that a caller did something successfully. */
export function recordSuccess(
  audit: Pick<Audit, 'record'>,
  caller: Principal,
  event: Omit<AuditEvent, 'tenant' | 'actor' | 'outcome'>,
): Promise<void> {
  return audit.record({ ...event, tenant: caller.tenant, actor: actorOf(caller), outcome: 'ok' });
}
