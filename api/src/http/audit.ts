import {
  type Audit,
  type AuditActor,
  type AuditEvent,
  DEFAULT_TENANT,
  type Principal,
  actorOf,
} from '@behalf/gateway';

/** Records that a caller did something successfully. */
export function recordSuccess(
  audit: Pick<Audit, 'record'>,
  caller: Principal,
  event: Omit<AuditEvent, 'tenant' | 'actor' | 'outcome'>,
): Promise<void> {
  return audit.record({ ...event, tenant: caller.tenant, actor: actorOf(caller), outcome: 'ok' });
}

type SignInAction = 'session.start' | 'session.end' | 'user.create';

/** The audit event of a sign-in or sign-out at the gateway itself. */
export function signInEvent(
  action: SignInAction,
  user: { id: string; tenant: string },
  by: NonNullable<AuditActor['by']> = 'session',
): AuditEvent {
  return {
    kind: 'sign_in',
    action,
    tenant: user.tenant,
    actor: { kind: 'user', id: user.id, by },
    door: by === 'session' ? 'browser' : 'rest',
    outcome: 'ok',
  };
}

/** Contains no user name: a refused name may be a password typed into the wrong field. */
export function refusedSignInEvent(code: string): AuditEvent {
  return {
    kind: 'sign_in',
    action: 'session.start',
    tenant: DEFAULT_TENANT,
    actor: { kind: 'anonymous', id: '' },
    door: 'browser',
    outcome: 'refused',
    code,
  };
}
