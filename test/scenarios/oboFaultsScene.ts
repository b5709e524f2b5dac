import type { DevUser } from '@behalf/devidp';
import { systemClock } from '@behalf/kernel';
import { createMovableClock, type MovableClock } from './movableClock.ts';
import { callWith, type Called } from './oboCaller.ts';
import { startOboScene, type OboScene, type OboSceneOptions, type Way } from './oboScene.ts';

/** How long one token request may take. Nothing else of a call that has come this far waits for exactly as long. */
const ATTEMPT_MS = 10_000;

/** Somebody whom no test has met before: nothing is kept for them, and nothing is remembered against them. */
export interface Stranger {
  readonly id: string;
  readonly token: string;
  call(server?: string): Promise<Called>;
}

export interface FaultScene extends OboScene {
  /** Moved by less than half a minute at a time: what was read before that is not believed any more. */
  readonly clock: MovableClock;
  /** Token requests are given up after a moment, until it is called again with false. */
  hurry(inHurry: boolean): void;
  stranger(): Stranger;
  callAs(token: string, server?: string): Promise<Called>;
  /** A token of this user that says more, as after another sign-in. */
  proving(user: string, claims: Readonly<Record<string, unknown>>): string;
  /** The provider does not know them any more. */
  dismiss(id: string): void;
  /** As if nothing had happened. What is remembered is remembered of others. */
  calm(): void;
}

const MOST_STRANGERS = 60;

/** A gateway whose provider and server can be made to fail, with as many users as there are questions. */
export async function startFaultScene(way: Way, options: OboSceneOptions = {}): Promise<FaultScene> {
  const users: DevUser[] = Array.from({ length: MOST_STRANGERS }, (_, index) => ({
    ...{ id: `user-${index}`, email: `user-${index}@example.test`, name: `User ${index}` },
  }));
  const movable = createMovableClock();
  let inHurry = false;
  const clock: MovableClock = {
    ...movable,
    timer: (ms, fn, more) => systemClock.timer(inHurry && ms === ATTEMPT_MS ? 150 : ms, fn, more),
  };
  const admin: DevUser = { id: 'ada', email: 'ada@example.test', name: 'Ada Admin', roles: ['ADMIN'] };
  const known = [...users, admin];
  const scene = await startOboScene({
    ...{ way, clock, users: known },
    ...options,
    variables: {
      OPENID_ADMIN_ROLE: 'ADMIN',
      OPENID_ADMIN_ROLE_TOKEN_KIND: 'access',
      ...options.variables,
    },
  });
  let next = 0;
  const callAs = (token: string, server?: string) => callWith(scene, token, server);
  return {
    ...scene,
    ...{ clock, callAs },
    hurry: (on) => void (inHurry = on),
    stranger() {
      const { id = '' } = users[next] ?? {};
      next += 1;
      const token = scene.token(id);
      return { id, token, call: (server) => callAs(token, server) };
    },
    proving: (user, claims) => (scene.idp.entra ?? scene.idp).tokens.mint({ user, claims }),
    dismiss: (id) =>
      void known.splice(
        known.findIndex((user) => user.id === id),
        1,
      ),
    calm() {
      inHurry = false;
      scene.idp.switches.clear();
      scene.mail.acceptTokens();
      scene.idp.requests.clear();
      scene.mail.credentials.clear();
    },
  };
}
