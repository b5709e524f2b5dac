import { createScriptedBrowser, createTrustingFetch } from '@behalf/devidp';
import { systemClock } from '@behalf/kernel';
import type { AdjustableClock } from './adjustableClock.ts';
import type { OboRig } from './oboRig.ts';
import { createVisitor, type Visitor } from './openIdGateway.ts';
import type { CallBody } from './users.ts';
import { toolCallPath } from './tokenCaller.ts';

/** Somebody's browser, signed in or on the way to it. */
export interface OboVisitor extends Visitor {
  call(server?: string): Promise<{ status: number; body: CallBody }>;
  /** Ends the sign-in at the provider, and with it what the provider gave for it. */
  signOutAtProvider(issuer: string): Promise<void>;
}

/** A browser that trusts the provider's certificate. `gateway`: another one than the scene's own. */
export function createOboVisitor(
  rig: Pick<OboRig, 'url' | 'ca'>,
  gateway: Pick<OboRig, 'url'> = rig,
): OboVisitor {
  const fetch = createTrustingFetch(rig.ca.caPem);
  const providerBrowser = createScriptedBrowser({ fetch });
  const visitor = createVisitor(gateway, providerBrowser);
  return {
    ...visitor,
    async signOutAtProvider(issuer) {
      const metadata = await fetch(`${issuer}/.well-known/openid-configuration`);
      const { end_session_endpoint: endSessionUrl } = (await metadata.json()) as {
        end_session_endpoint: string;
      };
      const { text } = await providerBrowser.open(endSessionUrl);
      const [, action = ''] = /action="([^"]+)"/.exec(text) ?? [];
      const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(text) ?? [];
      await providerBrowser.open(action, { xsrf, logout: 'yes' });
    },
    async call(server = 'mail') {
      const response = await visitor.post(toolCallPath(server, 'whoami'), { arguments: {} });
      return { status: response.status, body: (await response.json()) as CallBody };
    },
  };
}

/** Signed in at the provider. */
export async function createSignedInVisitor(
  rig: Pick<OboRig, 'url' | 'ca'>,
  user: string,
  gateway?: Pick<OboRig, 'url'>,
): Promise<OboVisitor> {
  const visitor = createOboVisitor(rig, gateway);
  await visitor.signIn(user);
  if (!(await visitor.readUser())) throw new Error(`${user} is not signed in`);
  return visitor;
}

/** What a tool's result says of a sign-in that is needed; undefined when it says nothing of it. */
export function readSignIn({ body }: { body: CallBody }): unknown {
  return body._meta?.['behalf/auth'];
}

export const createReauthStatus = (reason: string, server = 'mail') => ({
  ...{ code: 'needs_reauth', server, reason, connectUrl: '/oauth/openid', retryable: false },
});

/** The system's time, and later when it is moved: a login follows the system's clock. */
export function createOffsetClock(): AdjustableClock {
  let offsetMs = 0;
  return {
    now: () => systemClock.now() + offsetMs,
    timer: (ms, fn, options) => systemClock.timer(ms, fn, options),
    advance: (ms) => void (offsetMs += ms),
  };
}
