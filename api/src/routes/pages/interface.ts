import {
  type Accounts,
  GatewayError,
  type SignInSessions,
  type UserPrincipal,
  toReturnPath,
} from '@behalf/gateway';
import type { Request, Response } from 'express';
import type { SessionCookie } from '../../http/cookies.ts';
import { type Route, publicRoute } from '../../http/route.ts';
import { interfaceHeaders } from '../../http/securityHeaders.ts';
import { type WebFiles, sendFile } from '../../http/staticFiles.ts';
import { html, page } from './page.ts';
import { openIdFailure, signInPage } from './signInPage.ts';

/** The addresses inside the interface: which page is shown is decided in the browser. */
const INTERFACE_PATHS = [
  '/chat',
  '/chat/:id',
  '/tools',
  '/tools/:server',
  '/tools/:server/:tool',
  '/blocks',
  '/blocks/:id',
  '/blocks/:id/edit',
  '/sets',
  '/sets/:id',
  '/sets/:id/edit',
  '/servers',
  '/servers/:name',
  '/settings',
  '/admin',
  '/admin/:page',
];

/** A build gives each file the name of its content: what has this name never changes. */
const IMMUTABLE_CACHE = 'public, max-age=31536000, immutable';

interface WebParts {
  /** Null: it was not built. */
  web: WebFiles | null;
  accounts: Pick<Accounts, 'hasUsers'>;
  sessions: Pick<SignInSessions, 'resolve'>;
  cookie: () => SessionCookie;
  /** Whether a setup link is ever printed here. */
  offersSetup: boolean;
  /** Whether people can sign in at the identity provider. */
  offersOpenId: boolean;
}

/** The interface for who is signed in, and the way to the sign-in for everybody else. */
export function webRoutes(parts: WebParts): Route[] {
  const { web, accounts, sessions, cookie, offersSetup, offersOpenId } = parts;

  async function findSignedInUser(req: Request): Promise<UserPrincipal | undefined> {
    const secret = cookie().read(req);
    const caller = secret === null ? undefined : (await sessions.resolve(secret))?.caller;
    return caller?.kind === 'user' ? caller : undefined;
  }

  function showInterface(res: Response, caller: UserPrincipal): void {
    if (web) res.set(interfaceHeaders).type('html').send(web.index);
    else res.status(503).type('html').send(notBuiltPage(caller));
  }

  return [
    publicRoute('get', '/', async (req, res) => {
      const caller = await findSignedInUser(req);
      if (caller) {
        showInterface(res, caller);
        return;
      }
      const { returnTo } = req.query;
      const noAccounts = offersSetup && !(await accounts.hasUsers());
      res.type('html').send(
        signInPage({
          ...{ offersOpenId, noAccounts, failure: openIdFailure(req.query) },
          returnTo: toReturnPath(typeof returnTo === 'string' ? returnTo : undefined),
        }),
      );
    }),
    ...INTERFACE_PATHS.map((path): Route =>
      publicRoute('get', path, async (req, res) => {
        const caller = await findSignedInUser(req);
        if (caller) showInterface(res, caller);
        else
          res.redirect(
            302,
            `/?${new URLSearchParams({ returnTo: toReturnPath(req.originalUrl) }).toString()}`,
          );
      }),
    ),
    publicRoute('get', '/assets/:file', (req, res) => {
      const { file: name } = req.params;
      const file = web?.assets.get(name);
      if (!file) throw new GatewayError('NOT_FOUND');
      res.set('Cache-Control', IMMUTABLE_CACHE);
      sendFile(req, res, file);
    }),
  ];
}

/** In the place of the interface, where the process was started without building it. */
function notBuiltPage({ name, email }: Pick<UserPrincipal, 'name' | 'email'>): string {
  return page(
    'The interface is not built',
    html`<h1>The interface is not built</h1>
      <p>You are signed in as ${name} (${email}), and the API works.</p>
      <p>To build the interface, run <code>npm run build</code>, then start the gateway again.</p>
      <form method="post" action="/api/auth/logout">
        <button type="submit" class="quiet">Sign out</button>
      </form>`,
  );
}
