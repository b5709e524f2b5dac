import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IssuedSession } from '@behalf/gateway';

interface CookieOptions {
  /** True if the gateway is reached over https. */
  readonly secure: boolean;
}

/**
 * Every cookie is `HttpOnly` and `SameSite=Lax`. Lax, because the redirect from an authorization server must send it; a
 * cross-site form post does not.
 */
function createCookie(name: string, { secure, path = '/' }: CookieOptions & { readonly path?: string }) {
  const attributes = `Path=${path}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    read: (req: IncomingMessage) => readCookie(req, name),
    write(res: ServerResponse, value: string, expiresAt: number) {
      const expires = new Date(expiresAt).toUTCString();
      res.appendHeader('Set-Cookie', `${name}=${value}; ${attributes}; Expires=${expires}`);
    },
    erase: (res: ServerResponse) => void res.appendHeader('Set-Cookie', `${name}=; ${attributes}; Max-Age=0`),
  };
}

/** The value of the first cookie with this name; null if there is none or it is empty. */
export function readCookie({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | null {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const separator = pair.indexOf('=');
    if (separator > 0 && pair.slice(0, separator).trim() === name)
      return pair.slice(separator + 1).trim() || null;
  }
  return null;
}

/** The session cookie. */
export interface SessionCookie {
  read(req: IncomingMessage): string | null;
  write(res: ServerResponse, session: IssuedSession): void;
  erase(res: ServerResponse): void;
}

/** `__Host-` binds the cookie to this host and to https, so that another subdomain cannot set it. */
export function createSessionCookie({ secure }: CookieOptions): SessionCookie {
  const cookie = createCookie(secure ? '__Host-behalf_session' : 'behalf_session', { secure });
  return { ...cookie, write: (res, { secret, expiresAt }) => cookie.write(res, secret, expiresAt) };
}

/** The state of a login at the OpenID Connect provider that this browser started. */
export interface FlowCookie {
  read(req: IncomingMessage): string | null;
  write(res: ServerResponse, flow: { readonly flow: string; readonly expiresAt: number }): void;
  erase(res: ServerResponse): void;
}

/**
 * `__Host-` over https, although it requires the path `/`. Without it another subdomain could set the cookie of another
 * login, and the victim would sign in as the attacker (login CSRF).
 */
export function createFlowCookie({ secure }: CookieOptions, callbackPath: string): FlowCookie {
  const name = secure ? '__Host-behalf_openid' : 'behalf_openid';
  const cookie = createCookie(name, { secure, path: secure ? '/' : callbackPath });
  return { ...cookie, write: (res, { flow, expiresAt }) => cookie.write(res, flow, expiresAt) };
}

/** Binds each OAuth flow at an MCP server to the browser that started it: one cookie per flow. */
export interface AttemptCookies {
  read(req: IncomingMessage, flowId: string): string | null;
  write(
    res: ServerResponse,
    attempt: { readonly flowId: string; readonly browserSecret: string; readonly expiresAt: number },
  ): void;
  erase(res: ServerResponse, flowId: string): void;
}

/** `__Host-` over https, so that another subdomain cannot set the cookie. */
export function createAttemptCookies({ secure }: CookieOptions): AttemptCookies {
  const cookieFor = (flowId: string) => createCookie(`${secure ? '__Host-' : ''}bf-${flowId}`, { secure });
  return {
    read: (req, flowId) => (isFlowId(flowId) ? cookieFor(flowId).read(req) : null),
    write: (res, { flowId, browserSecret, expiresAt }) =>
      cookieFor(flowId).write(res, browserSecret, expiresAt),
    erase(res, flowId) {
      if (isFlowId(flowId)) cookieFor(flowId).erase(res);
    },
  };
}

/** Accepts only the alphabet of the gateway's ids, so that no other text of a URL becomes part of a cookie name. */
export function isFlowId(text: unknown): text is string {
  return typeof text === 'string' && /^[\w-]{1,64}$/.test(text);
}
