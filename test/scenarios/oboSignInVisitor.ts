import { createScriptedBrowser, createTrustingFetch } from '@behalf/devidp';
import { systemClock } from '@behalf/kernel';
import type { MovableClock } from './movableClock.ts';
import type { OboScene } from './oboScene.ts';
import { createVisitor, type Visitor } from './openIdGateway.ts';
import type { CallBody } from './people.ts';
import { callPath } from './tokenCaller.ts';

/** Somebody's browser, signed in or on the way to it. */
export interface OboVisitor extends Visitor {
  call(server?: string): Promise<{ status: number; body: CallBody }>;
  /** Ends the sign-in at the provider, and with it what the provider gave for it. */
  signOutThere(issuer: string): Promise<void>;
}

/** A browser that trusts the provider's certificate. `gateway`: another one than the scene's own. */
export function oboVisitor(
  scene: Pick<OboScene, 'url' | 'ca'>,
  gateway: Pick<OboScene, 'url'> = scene,
): OboVisitor {
  const fetch = createTrustingFetch(scene.ca.caPem);
  const there = createScriptedBrowser({ fetch });
  const visitor = createVisitor(gateway, there);
  return {
    ...visitor,
    async signOutThere(issuer) {
      const metadata = await fetch(`${issuer}/.well-known/openid-configuration`);
      const { end_session_endpoint: end } = (await metadata.json()) as { end_session_endpoint: string };
      const { text } = await there.open(end);
      const [, action = ''] = /action="([^"]+)"/.exec(text) ?? [];
      const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(text) ?? [];
      await there.open(action, { xsrf, logout: 'yes' });
    },
    async call(server = 'mail') {
      const response = await visitor.post(callPath(server, 'whoami'), { arguments: {} });
      return { status: response.status, body: (await response.json()) as CallBody };
    },
  };
}

/** Signed in at the provider. */
export async function signedInAt(
  scene: Pick<OboScene, 'url' | 'ca'>,
  user: string,
  gateway?: Pick<OboScene, 'url'>,
): Promise<OboVisitor> {
  const visitor = oboVisitor(scene, gateway);
  await visitor.signIn(user);
  if (!(await visitor.me())) throw new Error(`${user} is not signed in`);
  return visitor;
}

/** What a tool's result says of a sign-in that is needed; undefined when it says nothing of it. */
export function signInOf({ body }: { body: CallBody }): unknown {
  return body._meta?.['behalf/auth'];
}

export const needsReauth = (reason: string, server = 'mail') => ({
  ...{ code: 'needs_reauth', server, reason, connectUrl: '/oauth/openid', retryable: false },
});

/** The system's time, and later when it is moved: a login follows the system's clock. */
export function createRunningClock(): MovableClock {
  let ahead = 0;
  return {
    now: () => systemClock.now() + ahead,
    timer: (ms, fn, options) => systemClock.timer(ms, fn, options),
    move: (ms) => void (ahead += ms),
  };
}
