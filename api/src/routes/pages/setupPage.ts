import type { Env } from '@behalf/contracts';
import type { GatewayError, Setup } from '@behalf/gateway';
import { type Route, publicRoute } from '../../http/route.ts';
import { emailField, errorBox, html, page } from './page.ts';

interface SetupLinkParts {
  readonly env: Pick<Env, 'OPENID_ISSUER'>;
  readonly setup: Pick<Setup, 'issueLink'>;
  readonly baseUrl: () => string;
}

/** Issues the link to create the first administrator. Null if there are users or an identity provider. */
export function createSetupLinks({ env, setup, baseUrl }: SetupLinkParts): () => Promise<string | null> {
  return async () => {
    if (env.OPENID_ISSUER !== undefined) return null;
    const secret = await setup.issueLink();
    return secret && `${baseUrl()}/setup?token=${secret}`;
  };
}

/** The setup page and the style sheet of all server-rendered pages. */
export function pageRoutes({ setup }: { setup: Pick<Setup, 'isLinkOpen'> }): Route[] {
  return [
    publicRoute('get', '/setup', async (req, res) => {
      const { token } = req.query;
      const isOpen = typeof token === 'string' && (await setup.isLinkOpen(token));
      res
        .status(isOpen ? 200 : 403)
        .type('html')
        .send(setupPage(isOpen ? { token, email: '', name: '' } : 'closed'));
    }),
    publicRoute('get', '/style.css', (_req, res) =>
      res.type('css').set('Cache-Control', 'public, max-age=3600').send(style),
    ),
  ];
}

/** The form behind the one-time link. `closed`: the link was used, has expired, or is unknown. */
export function setupPage(
  link: 'closed' | { token: string; email: string; name: string },
  error?: GatewayError,
): string {
  if (link === 'closed') {
    return page(
      'Setup link not valid',
      html`<h1>This setup link is no longer valid</h1>
        <p>A setup link works once and expires after 15 minutes.</p>
        <p>
          If there is no account yet, restart the gateway: it prints a new link. Or create an account on the
          command line with <code>npm run create-user</code>.
        </p>
        <p><a href="/">Go to sign-in</a></p>`,
    );
  }
  return page(
    'Create the first administrator',
    html`<h1>Create the first administrator</h1>
      <p>This account has all permissions. The link works once.</p>
      ${errorBox(error)}
      <form method="post" action="/api/auth/setup">
        <input type="hidden" name="token" value="${link.token}" />
        <label for="name">Your name</label>
        <input
          id="name"
          name="name"
          required
          maxlength="100"
          autocomplete="name"
          value="${link.name}"
          autofocus
        />
        ${emailField(link.email)}
        <label for="password">Password</label>
        <input
          id="password"
          name="password"
          type="password"
          required
          minlength="8"
          maxlength="256"
          autocomplete="new-password"
          aria-describedby="password-hint"
        />
        <p id="password-hint" class="hint">At least 8 characters. A passphrase works well.</p>
        <button type="submit">Create account</button>
      </form>`,
  );
}

/** Uses the colors of the interface (packages/web/src/styles). */
const style = `:root{color-scheme:light dark;--ink:#16191d;--soft:#545c66;--line:#d9dde1;--edge:#868e97;--paper:#f6f7f8;--card:#fff;--accent:#0f766e;--on:#fff;--bad:#b42318;--badbg:#fdecea}
@media(prefers-color-scheme:dark){:root{--ink:#eceff2;--soft:#a5aeb8;--line:#2d3339;--edge:#7b858f;--paper:#0f1214;--card:#16191c;--accent:#3dbdb0;--on:#04211e;--bad:#ff8f85;--badbg:#3a1613}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
header{max-width:30rem;margin:3rem auto 1rem;padding:0 1rem;font-weight:650;letter-spacing:.01em}
.mark{color:var(--accent)}
main{max-width:30rem;margin:0 auto 3rem;padding:1.5rem 1.75rem 1.75rem;background:var(--card);border:1px solid var(--line);border-radius:12px}
h1{font-size:1.4rem;line-height:1.3;margin:0 0 .75rem}
h2{font-size:1.05rem;margin:1.5rem 0 .5rem}
p{margin:.5rem 0}
label{display:block;font-weight:600;margin:1rem 0 .25rem}
input{width:100%;padding:.6rem .7rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--edge);border-radius:8px}
button,.button{display:inline-block;margin-top:1.4rem;padding:.65rem 1.2rem;font:inherit;font-weight:600;color:var(--on);background:var(--accent);border:0;border-radius:8px;cursor:pointer}
button.quiet{color:var(--accent);background:transparent;border:1px solid var(--line)}
a{color:var(--accent)}
a.button{display:block;margin:.75rem 0 1.25rem;color:var(--on);text-align:center;text-decoration:none}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.hint,.empty{color:var(--soft);font-size:.92rem}
.error{margin:1rem 0;padding:.6rem .9rem;color:var(--bad);background:var(--badbg);border-radius:8px}
.error ul{margin:.25rem 0;padding-left:1.2rem}
code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}
`;
