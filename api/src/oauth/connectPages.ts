import type { GatewayError, OpenFlowResult } from '@behalf/gateway';
import type { Response } from 'express';
import { errorBox } from '../pages/errorBox.ts';
import { html } from '../pages/html.ts';
import { page } from '../pages/page.ts';

/**
 * Asks whether it is really this user who wants to sign in at that server. The form answers with a redirect to the authorization
 * server, which browsers hold to be where the form leads: that, and wherever it sends them on over https, is allowed here alone.
 */
export function askPage(res: Response, flowId: string, ask: Extract<OpenFlowResult, { kind: 'ask' }>): void {
  const { serverName, title, serverHost, authorizationHost, isThirdParty: isElsewhere, token } = ask;
  const action = `/api/mcp/${encodeURIComponent(serverName)}/oauth/initiate`;
  res
    .set('Content-Security-Policy', askPolicy(ask))
    .type('html')
    .send(
      page(
        `Connect ${title}`,
        html`<h1>Connect ${title}?</h1>
          <p>You will sign in at <strong>${authorizationHost}</strong>.</p>
          ${
            isElsewhere
              ? html`<p class="error" role="note">
                  Tokens from <strong>${authorizationHost}</strong> will be sent to
                  <strong>${serverHost}</strong>. Go on only if you trust that server with them.
                </p>`
              : html`<p>What it gives for you goes to <strong>${serverHost}</strong> and to nobody else.</p>`
          }
          <p class="hint">
            If you did not ask for this, close this page. Somebody may have sent you the link.
          </p>
          <form method="post" action="${action}">
            <input type="hidden" name="flowId" value="${flowId}" />
            <input type="hidden" name="token" value="${token}" />
            <button type="submit">Continue to ${authorizationHost}</button>
          </form>`,
      ),
    );
}

function askPolicy({ authorizationOrigin }: Extract<OpenFlowResult, { kind: 'ask' }>): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    `form-action 'self' https: ${authorizationOrigin}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

export function refusedPage(error: GatewayError): string {
  return page(
    'Not connected',
    html`<h1>Not connected</h1>
      ${errorBox(error)}
      <p><a class="button" href="/servers">Back to the servers</a></p>`,
  );
}
