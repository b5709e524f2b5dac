import type { UserPrincipal } from '@behalf/gateway';

/** Ada, with a session, unless it is said otherwise. */
export function aPrincipal(overrides: Partial<UserPrincipal> = {}): UserPrincipal {
  return {
    kind: 'user',
    userId: 'u-ada',
    tenant: 'default',
    role: 'USER',
    email: 'ada@example.com',
    name: 'Ada',
    issuer: 'local',
    groups: [],
    authentication: { via: 'session', session: 'session-of-ada' },
    ...overrides,
  };
}
