import { createHash } from 'node:crypto';
import { ConsentQuery, httpStatus } from '@behalf/contracts';
import {
  type CredentialVault,
  GatewayError,
  OPENID_SIGN_IN_PATH,
  type OpenFlowResult,
  type Principal,
  type Registry,
  type RequirePermission,
  type UserPrincipal,
  connectPagePath,
  credentialHolder,
  principalKey,
} from '@behalf/gateway';
import type { Clock, Keyring, SealContext } from '@behalf/kernel';
import type { Request, Response } from 'express';
import { isFlowId } from '../../http/cookies.ts';
import { parseBody } from '../../http/request.ts';
import { type Route, publicRoute, signedInRoute } from '../../http/route.ts';
import { type FindSignedInUser, redirectToSignIn } from '../../http/signedInUser.ts';
import { errorBox, html, page } from '../pages/page.ts';
import { type ServerSignInParts, attemptCookies, findSignInServer } from './flows.ts';

interface ConnectRouteParts extends ServerSignInParts {
  readonly findSignedInUser: FindSignedInUser;
}

const PATH = '/api/mcp/:serverName/oauth/initiate';

/** The connect page: redirects the user who owns the flow to the authorization server. No other user can continue the flow. */
export function connectRoutes(parts: ConnectRouteParts): Route[] {
  const { oauth, findSignedInUser, requirePermission } = parts;

  /** Validates the request. The flow determines its user; `userId` is only compared. */
  async function readRequest(
    req: Request,
    principal: UserPrincipal,
    source: Readonly<Record<string, unknown>>,
  ) {
    const { serverName } = req.params as { serverName: string };
    const { flowId, userId } = source;
    await findSignInServer(parts, principal, serverName);
    if (!isFlowId(flowId)) throw new GatewayError('MCP_FLOW_NOT_FOUND');
    if (userId !== undefined && userId !== principal.userId) throw new GatewayError('MCP_FLOW_FORBIDDEN');
    return { flowId, serverName, principal, browserSecret: attemptCookies(parts).read(req, flowId) };
  }

  function redirectToAuthorization(
    res: Response,
    flowId: string,
    { url, browserSecret, expiresAt }: Extract<OpenFlowResult, { kind: 'leave' }>,
  ): void {
    attemptCookies(parts).write(res, { flowId, browserSecret, expiresAt });
    res.set('Referrer-Policy', 'no-referrer').redirect(res.req.method === 'POST' ? 303 : 302, url);
  }

  /** Browsers get an error page, other clients the JSON error. */
  async function withErrorPage(req: Request, res: Response, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof GatewayError) || req.accepts(['json', 'html']) !== 'html') throw error;
      res.status(httpStatus(error.code)).type('html').send(connectionRefusedPage(error));
    }
  }

  return [
    publicRoute('get', PATH, async (req, res) => {
      const caller = await findSignedInUser(req);
      if (!caller) {
        redirectToSignIn(req, res);
        return;
      }
      await withErrorPage(req, res, async () => {
        requirePermission()(caller, 'USE');
        const request = await readRequest(req, caller, req.query);
        const opened = await oauth.flows.open(request);
        if (opened.kind === 'leave') redirectToAuthorization(res, request.flowId, opened);
        else sendConfirmPage(res, request.flowId, opened);
      });
    }),
    signedInRoute(
      'post',
      PATH,
      // Scope `none`: confirmation requires a browser session.
      'none',
      async (req, res, caller) =>
        await withErrorPage(req, res, async () => {
          const body = (req.body ?? {}) as Record<string, unknown>;
          const request = await readRequest(req, caller, body);
          const token = typeof body['token'] === 'string' ? body['token'] : '';
          redirectToAuthorization(res, request.flowId, await oauth.flows.confirm({ ...request, token }));
        }),
    ),
  ];
}

/**
 * The confirmation page of a flow that another browser or a program started. Browsers apply `form-action` to redirects after
 * a form as well, so the policy of this page allows the authorization server and further https redirects.
 */
function sendConfirmPage(
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
            If you did not start this sign-in, close this page. Another person may have sent you the link.
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

function connectionRefusedPage(error: GatewayError): string {
  return page(
    'Not connected',
    html`<h1>Not connected</h1>
      ${errorBox(error)}
      <p><a class="button" href="/servers">Back to the servers</a></p>`,
  );
}

interface ConnectLinkRouteParts {
  readonly requirePermission: () => RequirePermission;
  readonly connectLinks: Pick<ConnectLinks, 'validate'>;
}

/**
 * Checks that a connect link was created for the signed-in user. The connect page calls this before it offers the sign-in.
 * Nothing is looked up, so existing and missing servers are indistinguishable to other users.
 */
export function connectLinkRoute({ connectLinks, requirePermission }: ConnectLinkRouteParts): Route {
  return signedInRoute(
    'get',
    '/api/mcp/:serverName/oauth/asked',
    // Scope `none`: the page runs in a browser.
    'none',
    (req, res, caller) => {
      requirePermission()(caller, 'USE');
      const { serverName } = req.params;
      const result = connectLinks.validate(caller, serverName, parseBody(req.query, ConsentQuery).for);
      if (result === 'foreign') throw new GatewayError('MCP_CONNECT_LINK_FORBIDDEN');
      if (result === 'expired') throw new GatewayError('MCP_CONNECT_LINK_EXPIRED');
      res.json({ success: true });
    },
  );
}

export interface ConnectLinks {
  /** The path of the connect page of a server. `signInLocation`: the path where the sign-in happens. */
  buildConnectPath(caller: Principal, server: string, signInLocation?: unknown): string;
  /** Whether a link for this server was created for this user and has not expired. */
  validate(caller: Principal, server: string, reference: string): 'valid' | 'expired' | 'foreign';
  /** The elicitation id of the sign-in at a server. It stays the same until the user signs in or out there. */
  computeElicitationId(caller: Principal, server: string): Promise<string>;
}

interface ConnectLinksParts {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly vault: Pick<CredentialVault, 'list'>;
  readonly registry: Pick<Registry, 'find'>;
}

/** A link is valid for one to two windows, so that all calls within a window return the same link. */
const WINDOW_MS = 30 * 60_000;
const REFERENCE_PATTERN = /^([0-9a-z]{1,12})\.(.{1,100})$/;

/**
 * Links to the connect page that MCP clients show to their user. An attacker could forward their own link to a victim, who
 * would then connect an account for the attacker (login CSRF). A MAC therefore binds each link to its user. A link contains
 * no secret and no readable user id. No store is needed: every replica computes and verifies the same link.
 */
export function createConnectLinks({ keyring, clock, vault, registry }: ConnectLinksParts): ConnectLinks {
  function createReference(caller: Principal, server: string): string {
    const expiresAt = ((Math.floor(clock.now() / WINDOW_MS) + 2) * WINDOW_MS).toString(36);
    return `${expiresAt}.${keyring.mac(expiresAt, toSealContext(caller, server))}`;
  }

  return {
    buildConnectPath(caller, server, signInLocation) {
      const query = new URLSearchParams({
        for: createReference(caller, server),
        ...(signInLocation === OPENID_SIGN_IN_PATH && { signIn: 'here' }),
      });
      return `${connectPagePath({ name: server })}?${query.toString()}`;
    },
    validate(caller, server, reference) {
      const [, expiresAt = '', mac = ''] = REFERENCE_PATTERN.exec(reference) ?? [];
      if (!keyring.verifyMac(expiresAt, mac, toSealContext(caller, server))) return 'foreign';
      return clock.now() < parseInt(expiresAt, 36) ? 'valid' : 'expired';
    },
    async computeElicitationId(caller, server) {
      const { tenant } = caller;
      const knownServer = registry.find(tenant, server);
      const credentials = knownServer
        ? await vault.list(tenant, credentialHolder(caller), knownServer.id)
        : [];
      // Each sign-in and sign-out changes the generations, and so the id.
      const generations = credentials.map(({ id, generation }) => [id, generation]).sort();
      const name = JSON.stringify([principalKey(caller), knownServer?.id ?? server, generations]);
      return `behalf:${createHash('sha256').update(name).digest('base64url')}`;
    },
  };
}

function toSealContext(caller: Principal, server: string): SealContext {
  return {
    tenant: caller.tenant,
    principal: principalKey(caller),
    ...{ server, kind: 'connect-link', field: 'for' },
  };
}
