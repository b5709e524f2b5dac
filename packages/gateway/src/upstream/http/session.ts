import type { PresentedCredential } from '../bearerHeaders.ts';
import type { HeaderValues, UpstreamRequestOptions, ServerClaims } from '../upstream.ts';
import type { LegacyHandshake } from './handshake.ts';
import { createHeaderCache } from './requestHeaders.ts';

/** A legacy session, as small as it can be: thousands of them lie idle. */
export interface LegacySession {
  readonly id: string | undefined;
  readonly claims: ServerClaims;
  /** The headers of a POST on this session, without the token of a bearer. */
  readonly headersFor: (caller: Pick<UpstreamRequestOptions, 'headers' | 'extraHeaders'>) => HeaderValues;
  /** What only this session's own requests carry. */
  readonly sessionHeaders: HeaderValues;
  /** Turned off for good when the server offers no stream. */
  offersStream: boolean;
}

export function createLegacySession(
  { sessionId, claims }: LegacyHandshake,
  configured: HeaderValues,
): LegacySession {
  const sessionHeaders = {
    'mcp-protocol-version': claims.protocolVersion,
    ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
  };
  const protocol = {
    ...sessionHeaders,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return {
    id: sessionId,
    claims,
    headersFor: createHeaderCache(configured, protocol),
    sessionHeaders,
    offersStream: true,
  };
}

export interface LegacySessions {
  readonly current: LegacySession;
  /**
   * A session in the place of `lost`. Whoever finds the same one lost shares one hand-shake. `retire`: the server may
   * know it still, and is told that it is not needed any more.
   */
  renew(
    lostSession: LegacySession,
    credential: PresentedCredential,
    options: { readonly retire: boolean },
  ): Promise<LegacySession>;
}

export interface LegacySessionsParts {
  readonly open: (credential: PresentedCredential) => Promise<LegacySession>;
  /** Ends a session at the server. */
  readonly retire: (session: LegacySession) => void;
  /** Another one is in its place from now on. */
  readonly onRenewed: () => void;
}

export function createLegacySessions(
  first: LegacySession,
  { open, retire, onRenewed }: LegacySessionsParts,
): LegacySessions {
  let current = first;
  let renewal: Promise<LegacySession> | undefined;
  return {
    get current() {
      return current;
    },
    renew(lostSession, credential, options) {
      // Somebody was faster.
      if (lostSession !== current) return Promise.resolve(current);
      renewal ??= open(credential)
        .then((session) => {
          current = session;
          if (options.retire) retire(lostSession);
          onRenewed();
          return session;
        })
        .finally(() => (renewal = undefined));
      return renewal;
    },
  };
}
