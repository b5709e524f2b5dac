import { type Accounts, GatewayError, type UserPrincipal, toReturnPath } from '@behalf/gateway';
import type { Response } from 'express';
import { type Route, publicRoute } from '../../http/route.ts';
import { interfaceHeaders } from '../../http/securityHeaders.ts';
import { type FindSignedInUser, redirectToSignIn } from '../../http/signedInUser.ts';
import { type WebFiles, sendFile } from '../../http/staticFiles.ts';
import { html, page } from './page.ts';
import { openIdFailure, signInPage } from './signInPage.ts';

/** The paths of the single-page interface. The browser decides which page to show. */
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

/** File names contain a hash of the content, so the content of a URL never changes. */
const IMMUTABLE_CACHE = 'public, max-age=31536000, immutable';

interface WebParts {
  /** Null if the interface was not built. */
  web: WebFiles | null;
  accounts: Pick<Accounts, 'hasUsers'>;
  findSignedInUser: FindSignedInUser;
  /** True without an identity provider: the first administrator is created by a setup link. */
  offersSetup: boolean;
  /** True if browsers can also sign in at the OpenID Connect provider. */
  offersOpenId: boolean;
}

/** The interface for signed-in users, the sign-in page for visitors, and the static files. */
export function webRoutes(parts: WebParts): Route[] {
  const { web, accounts, findSignedInUser, offersSetup, offersOpenId } = parts;

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
        else redirectToSignIn(req, res);
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

/** Shown if the process was started without building the interface. */
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
