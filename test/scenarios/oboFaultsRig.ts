import type { DevUser } from '@behalf/devidp';
import { systemClock } from '@behalf/kernel';
import { createAdjustableClock, type AdjustableClock } from './adjustableClock.ts';
import { callWithToken, type ToolCallResponse } from './oboCaller.ts';
import { startOboRig, type OboRig, type OboRigOptions, type ExchangeMethod } from './oboRig.ts';

/** How long one token request may take. Nothing else of a call that has come this far waits for exactly as long. */
const ATTEMPT_TIMEOUT_MS = 10_000;

/** Somebody whom no test has met before: nothing is kept for them, and nothing is remembered against them. */
export interface FreshUser {
  readonly id: string;
  readonly token: string;
  call(server?: string): Promise<ToolCallResponse>;
}

export interface FaultRig extends OboRig {
  /** Moved by less than half a minute at a time: what was read before that is not believed any more. */
  readonly clock: AdjustableClock;
  /** Token requests are given up after a moment, until it is called again with false. */
  setShortTimeouts(hasShortTimeouts: boolean): void;
  createUser(): FreshUser;
  callAs(token: string, server?: string): Promise<ToolCallResponse>;
  /** A token of this user that says more, as after another sign-in. */
  tokenWithClaims(user: string, claims: Readonly<Record<string, unknown>>): string;
  /** The provider does not know them any more. */
  removeUser(id: string): void;
  /** As if nothing had happened. What is remembered is remembered of others. */
  resetFaults(): void;
}

const MAX_FRESH_USERS = 60;

/** A gateway whose provider and server can be made to fail, with as many users as there are questions. */
export async function startFaultRig(method: ExchangeMethod, options: OboRigOptions = {}): Promise<FaultRig> {
  const users: DevUser[] = Array.from({ length: MAX_FRESH_USERS }, (_, index) => ({
    ...{ id: `user-${index}`, email: `user-${index}@example.test`, name: `User ${index}` },
  }));
  const adjustableClock = createAdjustableClock();
  let hasShortTimeouts = false;
  const clock: AdjustableClock = {
    ...adjustableClock,
    timer: (ms, fn, more) =>
      systemClock.timer(hasShortTimeouts && ms === ATTEMPT_TIMEOUT_MS ? 150 : ms, fn, more),
  };
  const admin: DevUser = { id: 'ada', email: 'ada@example.test', name: 'Ada Admin', roles: ['ADMIN'] };
  const knownUsers = [...users, admin];
  const rig = await startOboRig({
    ...{ provider: method, clock, users: knownUsers },
    ...options,
    variables: {
      OPENID_ADMIN_ROLE: 'ADMIN',
      OPENID_ADMIN_ROLE_TOKEN_KIND: 'access',
      ...options.variables,
    },
  });
  let nextUserIndex = 0;
  const callAs = (token: string, server?: string) => callWithToken(rig, token, server);
  return {
    ...rig,
    ...{ clock, callAs },
    setShortTimeouts: (isEnabled) => void (hasShortTimeouts = isEnabled),
    createUser() {
      const { id = '' } = users[nextUserIndex] ?? {};
      nextUserIndex += 1;
      const token = rig.mintToken(id);
      return { id, token, call: (server) => callAs(token, server) };
    },
    tokenWithClaims: (user, claims) => (rig.idp.entra ?? rig.idp).tokens.mint({ user, claims }),
    removeUser: (id) =>
      void knownUsers.splice(
        knownUsers.findIndex((user) => user.id === id),
        1,
      ),
    resetFaults() {
      hasShortTimeouts = false;
      rig.idp.switches.clear();
      rig.mail.acceptTokens();
      rig.idp.requestLog.clear();
      rig.mail.credentials.clear();
    },
  };
}
