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
