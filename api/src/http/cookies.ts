import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IssuedSession } from '@behalf/gateway';
import type { Origins } from './origins.ts';

/** The session cookie. `__Host-` binds it to this host and to https, against a neighbour subdomain planting one. */
export interface SessionCookie {
  read(req: IncomingMessage): string | null;
  write(res: ServerResponse, session: IssuedSession): void;
  erase(res: ServerResponse): void;
}

export function createSessionCookie(origins: Origins): SessionCookie {
  const name = origins.secure ? '__Host-behalf_session' : 'behalf_session';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${origins.secure ? '; Secure' : ''}`;
  return {
    read: (req) => readCookie(req, name),
    write(res, { secret, expiresAt }) {
      res.appendHeader(
        'Set-Cookie',
        `${name}=${secret}; ${attributes}; Expires=${new Date(expiresAt).toUTCString()}`,
      );
    },
    erase(res) {
      res.appendHeader('Set-Cookie', `${name}=; ${attributes}; Max-Age=0`);
    },
  };
}

/** The first cookie of this name; null for none and for an empty one. */
export function readCookie({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | null {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const separator = pair.indexOf('=');
    if (separator > 0 && pair.slice(0, separator).trim() === name)
      return pair.slice(separator + 1).trim() || null;
  }
  return null;
}

/** What a browser keeps of a login that it has begun. */
export interface FlowCookie {
  read(req: IncomingMessage): string | null;
  write(res: ServerResponse, flow: { readonly flow: string; readonly expiresAt: number }): void;
  erase(res: ServerResponse): void;
}

/**
 * `__Host-` wherever there is https, although it means the path `/`: without it a neighbour subdomain could plant a login
 * of its own and have its victim sign in as the attacker. Lax, because the provider's redirect must bring it along.
 */
export function createFlowCookie({ secure }: Pick<Origins, 'secure'>, callbackPath: string): FlowCookie {
  const name = secure ? '__Host-behalf_openid' : 'behalf_openid';
  const attributes = `Path=${secure ? '/' : callbackPath}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    read: (req) => readCookie(req, name),
    write(res, { flow, expiresAt }) {
      res.appendHeader(
        'Set-Cookie',
        `${name}=${flow}; ${attributes}; Expires=${new Date(expiresAt).toUTCString()}`,
      );
    },
    erase(res) {
      res.appendHeader('Set-Cookie', `${name}=; ${attributes}; Max-Age=0`);
    },
  };
}

/** What a browser keeps of the sign-ins at servers that it has begun: one cookie for each. */
export interface AttemptCookies {
  read(req: IncomingMessage, flowId: string): string | null;
  write(
    res: ServerResponse,
    attempt: { readonly flowId: string; readonly browserSecret: string; readonly expiresAt: number },
  ): void;
  erase(res: ServerResponse, flowId: string): void;
}

/**
 * `__Host-` wherever there is https: a neighbour subdomain cannot plant one. Lax, because the redirect of the authorization
 * server must bring it along; a form that posts here from elsewhere does not.
 */
export function createAttemptCookies({ secure }: Pick<Origins, 'secure'>): AttemptCookies {
  const cookieName = (flowId: string) => `${secure ? '__Host-' : ''}bf-${flowId}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    read: (req, flowId) => (isFlowId(flowId) ? readCookie(req, cookieName(flowId)) : null),
    write(res, { flowId, browserSecret, expiresAt }) {
      const expires = new Date(expiresAt).toUTCString();
      res.appendHeader(
        'Set-Cookie',
        `${cookieName(flowId)}=${browserSecret}; ${attributes}; Expires=${expires}`,
      );
    },
    erase(res, flowId) {
      if (isFlowId(flowId))
        res.appendHeader('Set-Cookie', `${cookieName(flowId)}=; ${attributes}; Max-Age=0`);
    },
  };
}

/** Of the form of our own ids: whatever else stands in an address never becomes part of a cookie. */
export function isFlowId(text: unknown): text is string {
  return typeof text === 'string' && /^[\w-]{1,64}$/.test(text);
}
