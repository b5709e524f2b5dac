import type { Accounts, Sessions, Setup, UserPrincipal } from '@behalf/gateway';
import type { SessionCookie } from '../cookies.ts';
import type { Route } from '../http.ts';
import { homePage, type ServerSummary } from './homePage.ts';
import { openIdFailure } from './openIdFailure.ts';
import { setupPage } from './setupPage.ts';
import { signInPage } from './signInPage.ts';
import { style } from './style.ts';

export interface PageParts {
  accounts: Accounts;
  setup: Setup;
  sessions: Sessions;
  cookie: () => SessionCookie;
  /** Whether a setup link is ever printed here. */
  offersSetup: boolean;
  /** Whether people can sign in at the identity provider. */
  offersOpenId: boolean;
  /** The servers this caller has. */
  servers: (caller: UserPrincipal) => readonly ServerSummary[];
}

export function pageRoutes(parts: PageParts): Route[] {
  const { accounts, setup, sessions, cookie, offersSetup, offersOpenId, servers } = parts;
  return [
    {
      method: 'get',
      path: '/',
      access: 'public',
      async handle(req, res) {
        const secret = cookie().read(req);
        const caller = secret === null ? undefined : (await sessions.resolve(secret))?.caller;
        if (caller?.kind === 'user') {
          res.type('html').send(homePage(caller, servers(caller)));
          return;
        }
        const noAccounts = offersSetup && !(await accounts.exist());
        const failure = openIdFailure(req.query);
        res.type('html').send(signInPage({ offersOpenId, noAccounts, failure }));
      },
    },
    {
      method: 'get',
      path: '/setup',
      access: 'public',
      async handle(req, res) {
        const { token } = req.query;
        const open = typeof token === 'string' && (await setup.isOpen(token));
        res
          .status(open ? 200 : 403)
          .type('html')
          .send(setupPage(open ? { token, email: '', name: '' } : 'closed'));
      },
    },
    {
      method: 'get',
      path: '/style.css',
      access: 'public',
      handle(_req, res) {
        res.type('css').set('Cache-Control', 'public, max-age=3600').send(style);
      },
    },
  ];
}
