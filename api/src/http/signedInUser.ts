import type { IncomingMessage } from 'node:http';
import { type SignInSessions, type UserPrincipal, toReturnPath } from '@behalf/gateway';
import type { Request, Response } from 'express';
import type { SessionCookie } from './cookies.ts';

/** The user of the session cookie; null without a valid session. For pages that also serve visitors who are not signed in. */
export type FindSignedInUser = (req: IncomingMessage) => Promise<UserPrincipal | null>;

export function createFindSignedInUser({
  sessions,
  cookie,
}: {
  sessions: Pick<SignInSessions, 'resolve'>;
  cookie: () => SessionCookie;
}): FindSignedInUser {
  return async (req) => {
    const secret = cookie().read(req);
    const caller = secret === null ? undefined : (await sessions.resolve(secret))?.caller;
    return caller?.kind === 'user' ? caller : null;
  };
}

/** Sends the browser to the sign-in page, which returns to the current page afterwards. */
export function redirectToSignIn(req: Request, res: Response): void {
  const query = new URLSearchParams({ returnTo: toReturnPath(req.originalUrl) });
  res.redirect(302, `/?${query.toString()}`);
}
