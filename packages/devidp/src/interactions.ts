import type { IncomingMessage, ServerResponse } from 'node:http';
import type Provider from 'oidc-provider';
import { readBody } from './body.ts';
import { errors } from './oidcProvider.ts';
import { loginPage } from './pages/loginPage.ts';
import { errorPage } from './pages/otherPages.ts';
import { pageHeaders } from './pages/page.ts';
import { findUser, type DevUser } from './users.ts';

export const interactionPath = '/interaction/';

/** A form of buttons is short; nobody has a reason to send more. */
const MOST_BODY_BYTES = 10_000;

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
      res.writeHead(200, pageHeaders).end(loginPage(String(params.client_id), users));
      return;
    }
    const form = new URLSearchParams(String(await readBody(req, MOST_BODY_BYTES)));
    const user = findUser(users, form.get('user') ?? undefined);
    if (form.has('cancel')) {
      const description = 'The sign-in was cancelled.';
      await provider.interactionFinished(req, res, {
        error: 'access_denied',
        error_description: description,
      });
    } else if (user) {
      await provider.interactionFinished(req, res, { login: { accountId: user.id } });
    } else {
      res.writeHead(400, pageHeaders).end(errorPage('unknown_user'));
    }
  } catch (error) {
    if (!(error instanceof errors.SessionNotFound)) throw error;
    res.writeHead(400, pageHeaders).end(errorPage(error.error, 'This sign-in is over.'));
  }
}
