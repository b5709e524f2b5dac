import type { Presented } from '../bearerHeaders.ts';
import type { HeaderValues, RequestOptions, ServerClaims } from '../upstream.ts';
import type { Handshake } from './handshake.ts';
import { createHeaderMemo } from './requestHeaders.ts';

/** A legacy session, as small as it can be: thousands of them lie idle. */
export interface Session {
  readonly id: string | undefined;
  readonly claims: ServerClaims;
  /** The headers of a POST on this session, without the token of a bearer. */
  readonly headersFor: (given: Pick<RequestOptions, 'headers' | 'extraHeaders'>) => HeaderValues;
  /** What only this session's own requests carry. */
  readonly own: HeaderValues;
  /** Turned off for good when the server offers no stream. */
  offersStream: boolean;
}

export function toSession({ sessionId, claims }: Handshake, configured: HeaderValues): Session {
  const own = {
    'mcp-protocol-version': claims.protocolVersion,
    ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
  };
  const protocol = {
    ...own,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return {
    id: sessionId,
    claims,
    headersFor: createHeaderMemo(configured, protocol),
    own,
    offersStream: true,
  };
}

export interface Sessions {
  readonly current: Session;
  /**
   * A session in the place of `lost`. Whoever finds the same one lost shares one hand-shake. `retire`: the server may
   * know it still, and is told that it is not needed any more.
   */
  renew(lost: Session, credential: Presented, options: { readonly retire: boolean }): Promise<Session>;
}

export interface SessionParts {
  readonly open: (credential: Presented) => Promise<Session>;
  /** Ends a session at the server. */
  readonly retire: (session: Session) => void;
  /** Another one is in its place from now on. */
  readonly onRenewed: () => void;
}

export function createSessions(first: Session, { open, retire, onRenewed }: SessionParts): Sessions {
  let current = first;
  let renewing: Promise<Session> | undefined;
  return {
    get current() {
      return current;
    },
    renew(lost, credential, options) {
      // Somebody was faster.
      if (lost !== current) return Promise.resolve(current);
      renewing ??= open(credential)
        .then((session) => {
          current = session;
          if (options.retire) retire(lost);
          onRenewed();
          return session;
        })
        .finally(() => (renewing = undefined));
      return renewing;
    },
  };
}
