import type { IncomingMessage, ServerResponse } from 'node:http';
import { readCookie } from '../cookies.ts';
import type { Origins } from '../origins.ts';

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
