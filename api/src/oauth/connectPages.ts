import type { GatewayError, OpenFlowResult } from '@behalf/gateway';
import type { Response } from 'express';
import { errorBox } from '../pages/errorBox.ts';
import { html } from '../pages/html.ts';
import { page } from '../pages/page.ts';

/**
 * Asks whether it is really this user who wants to sign in at that server. The form answers with a redirect to the authorization
 * server, which browsers hold to be where the form leads: that, and wherever it sends them on over https, is allowed here alone.
 */
export function sendConfirmPage(
  res: Response,
  flowId: string,
  confirmation: Extract<OpenFlowResult, { kind: 'ask' }>,
): void {
  const { serverName, title, serverHost, authorizationHost, isThirdParty, token } = confirmation;
  const action = `/api/mcp/${encodeURIComponent(serverName)}/oauth/initiate`;
  res
    .set('Content-Security-Policy', confirmPolicy(confirmation))
    .type('html')
    .send(
      page(
        `Connect ${title}`,
        html`<h1>Connect ${title}?</h1>
          <p>You will sign in at <strong>${authorizationHost}</strong>.</p>
          ${
            isThirdParty
              ? html`<p class="error" role="note">
                  Tokens from <strong>${authorizationHost}</strong> will be sent to
                  <strong>${serverHost}</strong>. Continue only if you trust that server.
                </p>`
              : html`<p>Its tokens are sent only to <strong>${serverHost}</strong>.</p>`
          }
          <p class="hint">
            If you did not start this, close this page. Another person may have sent you the link.
          </p>
          <form method="post" action="${action}">
            <input type="hidden" name="flowId" value="${flowId}" />
            <input type="hidden" name="token" value="${token}" />
            <button type="submit">Continue to ${authorizationHost}</button>
          </form>`,
      ),
    );
}

function confirmPolicy({ authorizationOrigin }: Extract<OpenFlowResult, { kind: 'ask' }>): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    `form-action 'self' https: ${authorizationOrigin}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

export function connectionRefusedPage(error: GatewayError): string {
  return page(
    'Not connected',
    html`<h1>Not connected</h1>
      ${errorBox(error)}
      <p><a class="button" href="/servers">Back to the servers</a></p>`,
  );
}
