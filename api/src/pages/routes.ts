import type { Accounts, Sessions, Setup, UserPrincipal } from '@behalf/gateway';
import type { SessionCookie } from '../cookies.ts';
import type { Route } from '../http.ts';
import { homePage, type ServerSummary } from './homePage.ts';
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
  /** The servers this caller has. */
  servers: (caller: UserPrincipal) => readonly ServerSummary[];
}

export function pageRoutes({ accounts, setup, sessions, cookie, offersSetup, servers }: PageParts): Route[] {
  return [
    {
      method: 'get',
      path: '/',
      access: 'public',
      async handle(req, res) {
        const secret = cookie().read(req);
        const caller = secret === null ? null : await sessions.resolve(secret);
        if (caller) res.type('html').send(homePage(caller, servers(caller)));
        else res.type('html').send(signInPage({ noAccounts: offersSetup && !(await accounts.exist()) }));
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
