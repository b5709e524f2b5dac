import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { collectBody } from './collectBody.ts';
import { errors } from './oidcProvider.ts';
import { renderLoginPage } from './pages/loginPage.ts';
import { renderErrorPage } from './pages/resultPages.ts';
import { pageHeaders } from './pages/page.ts';
import { findUser, type DevUser } from './users.ts';

export const interactionPath = '/interaction/';

/** A form of buttons is short; nobody has a reason to send more. */
const MAX_FORM_BYTES = 10_000;

/**
 * The pages between an authorization request and its answer. Whose request it is, the provider reads from a cookie that
 * is sent to this address only and not from other sites, so a page elsewhere cannot choose the user.
 */
export async function handleInteraction(
  provider: Provider,
  users: readonly DevUser[],
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  try {
    const { prompt, params } = await provider.interactionDetails(req, res);
    if (prompt.name === 'consent') {
      await provider.interactionFinished(req, res, { consent: {} });
      return;
    }
    if (req.method !== 'POST') {
      res.writeHead(200, pageHeaders).end(renderLoginPage(String(params.client_id), users));
      return;
    }
    const form = new URLSearchParams(String(await collectBody(req, MAX_FORM_BYTES)));
    const user = findUser(users, form.get('user') ?? undefined);
    if (form.has('cancel')) {
      const description = 'The sign-in was canceled.';
      await provider.interactionFinished(req, res, {
        error: 'access_denied',
        error_description: description,
      });
    } else if (user) {
      await provider.interactionFinished(req, res, { login: { accountId: user.id } });
    } else {
      res.writeHead(400, pageHeaders).end(renderErrorPage('unknown_user'));
    }
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error;
    res.writeHead(400, pageHeaders).end(renderErrorPage(error.error, 'This sign-in has ended.'));
  }
}
