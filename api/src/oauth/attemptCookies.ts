import type { IncomingMessage, ServerResponse } from 'node:http';
import { readCookie } from '../cookies.ts';
import type { Origins } from '../origins.ts';

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
