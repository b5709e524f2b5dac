import type { AuditActor, AuditEvent } from '@behalf/gateway';
import { DEFAULT_TENANT } from '@behalf/gateway';

type SignInAction = 'session.start' | 'session.end' | 'user.create';

/** What is written down about somebody who came or went. */
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

/** Nobody was recognised, so nobody is named: what was typed may be a password in the wrong field. */
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
