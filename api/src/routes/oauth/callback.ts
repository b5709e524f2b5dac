import { type FlowError, flowChannel, flowErrors } from '@behalf/contracts';
import { type CallbackResult, GatewayError, type UserPrincipal, toReturnPath } from '@behalf/gateway';
import type { Request, Response } from 'express';
import type { RateLimits } from '../../http/limits.ts';
import type { ClientAddressReader } from '../../http/request.ts';
import { type Route, publicRoute } from '../../http/route.ts';
import type { FindSignedInUser } from '../../http/signedInUser.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { SignInStats } from '../ops/counters.ts';
import { type Html, html, page } from '../pages/page.ts';
import { type ServerSignInParts, attemptCookies, findSignInServer } from './flows.ts';

interface CallbackRouteParts extends ServerSignInParts {
  readonly findSignedInUser: FindSignedInUser;
  readonly limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  readonly clientAddressOf: ClientAddressReader;
  readonly logger: Logger;
  readonly signInStats: Pick<SignInStats, 'count'>;
}

/** Errors that indicate guessing of `state` values. */
const GUESS_ERRORS: ReadonlySet<FlowError> = new Set(['flow_unknown', 'invalid_state', 'missing_state']);

/**
 * The redirect URI of sign-ins at MCP servers. Always redirects to a page of the gateway, so that no text of the
 * authorization server is shown.
 */
export function callbackRoute(parts: CallbackRouteParts): Route {
  const { oauth, findSignedInUser, limits, clientAddressOf, logger, signInStats } = parts;

  async function canUseServer(principal: UserPrincipal, serverName: string): Promise<boolean> {
    try {
      return (await findSignInServer(parts, principal, serverName)).name === serverName;
    } catch (error) {
      if (error instanceof GatewayError) return false;
      throw error;
    }
  }

  async function finish(req: Request, serverName: string): Promise<CallbackResult> {
    try {
      const principal = await findSignedInUser(req);
      // A user who lost access to the server must not connect it. The flow stays pending.
      if (principal && !(await canUseServer(principal, serverName)))
        return { ok: false, error: 'flow_forbidden' };
      return await oauth.flows.finish({
        serverName,
        query: new URL(req.url, 'http://callback.invalid').searchParams,
        principal,
        browserSecretOf: (flowId) => attemptCookies(parts).read(req, flowId),
      });
    } catch (error) {
      if (error instanceof GatewayError) return { ok: false, error: 'callback_failed' };
      logger.warn('A sign-in at a server failed', { server: serverName, error });
      return { ok: false, error: 'callback_failed' };
    }
  }

  return publicRoute('get', '/api/mcp/:serverName/oauth/callback', async (req, res) => {
    const { serverName } = req.params;
    limits.checkAddress(clientAddressOf(req));
    const finished = await finish(req, serverName);
    signInStats.count(finished);
    if (finished.error !== undefined && GUESS_ERRORS.has(finished.error))
      limits.recordRefusal(clientAddressOf(req));
    if (finished.flowId !== undefined) attemptCookies(parts).erase(res, finished.flowId);
    res.set('Referrer-Policy', 'no-referrer').redirect(302, resultUrl(serverName, finished));
  });
}

function resultUrl(serverName: string, { ok, error, flowId, returnTo }: CallbackResult): string {
  const query = new URLSearchParams({
    ...(error !== undefined && { error }),
    serverName,
    ...(flowId !== undefined && { flowId }),
    ...(returnTo !== undefined && returnTo !== '/' && { returnTo }),
  });
  return `/oauth/${ok ? 'success' : 'error'}?${query.toString()}`;
}

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** Where a sign-in at a server ends, whatever came of it. */
export function resultRoutes(): Route[] {
  const sendPage = (res: Response, html: string) =>
    res
      .set({ 'Content-Security-Policy': CONTENT_SECURITY_POLICY, 'Referrer-Policy': 'no-referrer' })
      .type('html')
      .send(html);
  return [
    publicRoute('get', '/oauth/success', (req, res) => void sendPage(res, connectSuccessPage(req.query))),
    publicRoute('get', '/oauth/error', (req, res) => void sendPage(res, connectErrorPage(req.query))),
    publicRoute(
      'get',
      '/oauth/result.js',
      (_req, res) =>
        void res.type('text/javascript').set('Cache-Control', 'public, max-age=3600').send(resultScript),
    ),
  ];
}

const messages: Readonly<Record<FlowError, string>> = {
  access_denied: 'The sign-in was declined.',
  server_error: 'The authorization server could not complete the sign-in.',
  temporarily_unavailable: 'The authorization server is temporarily unavailable.',
  invalid_scope: 'The authorization server does not support the requested permissions.',
  provider_error: 'The authorization server refused the sign-in.',
  missing_code: 'The authorization server returned no authorization code.',
  missing_state: 'This response does not belong to any sign-in.',
  invalid_state: 'This response belongs to a sign-in at another server.',
  csrf_validation_failed: 'This sign-in was started in another browser.',
  issuer_mismatch: 'The response came from a different authorization server than the one requested.',
  code_refused: 'The authorization server rejected the authorization code.',
  token_exchange_failed: 'The authorization server issued no token.',
  probe_refused: 'You are signed in, but the server rejects the token.',
  config_changed: 'The server configuration changed during the sign-in.',
  superseded: 'You completed another sign-in at this server first.',
  cancelled: 'The sign-in was canceled.',
  expired: 'The sign-in took too long.',
  flow_used: 'This sign-in was already completed.',
  flow_unknown: 'This sign-in does not exist or has expired.',
  flow_forbidden: 'This sign-in belongs to another user or to another browser.',
  callback_failed: 'The sign-in failed.',
};

/** The result pages. Values of the URL only select a message from a list, or are validated as a path of the gateway. */
function connectSuccessPage({ returnTo }: Readonly<Record<string, unknown>>): string {
  return resultPage(
    'Connected',
    html`<h1>Connected</h1>
      <p role="status">The server is connected. You can close this window.</p>
      ${backLink(returnTo)}`,
  );
}

function connectErrorPage({ error, returnTo }: Readonly<Record<string, unknown>>): string {
  const errorCode = flowErrors.find((candidate) => candidate === error) ?? 'callback_failed';
  return resultPage(
    'Not connected',
    html`<h1>Not connected</h1>
      <div class="error" role="alert"><p>${messages[errorCode]}</p></div>
      <p>Your existing connections are unchanged. You can close this window and try again.</p>
      ${backLink(returnTo)}`,
  );
}

function resultPage(title: string, body: Html): string {
  return page(
    title,
    html`${body}
      <script src="/oauth/result.js" defer></script>`,
  );
}

function backLink(returnTo: unknown): Html {
  const path = toReturnPath(typeof returnTo === 'string' ? returnTo : undefined);
  return html`<p><a class="button" href="${path}" autofocus>Back to Behalf</a></p>`;
}

/**
 * Reports the result of the sign-in to the page that opened this window, by BroadcastChannel, by `window.opener`, and by
 * localStorage for pages that load later. The message contains nothing that is not in the URL. The receiver verifies the
 * result at the gateway.
 */
const resultScript = `(() => {
  'use strict';
  const query = new URLSearchParams(location.search);
  const flowId = query.get('flowId') ?? '';
  if (!/^[\\w-]{1,64}$/.test(flowId)) return;
  const ok = location.pathname === '/oauth/success';
  const rawError = query.get('error') ?? '';
  const error = ok ? undefined : /^[a-z_]{1,40}$/.test(rawError) ? rawError : 'callback_failed';
  const message = { type: 'behalf.oauth', flowId, ok, ...(error && { error }) };
  try {
    const channel = new BroadcastChannel('${flowChannel}');
    channel.postMessage(message);
    setTimeout(() => channel.close(), 1000);
  } catch {}
  try {
    localStorage.setItem('${flowChannel}:' + flowId, JSON.stringify(message));
  } catch {}
  try {
    if (window.opener) window.opener.postMessage(message, location.origin);
  } catch {}
  setTimeout(() => window.close(), 1500);
})();
`;
