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

/** The connect page: the one way from here to an authorization server, for the user whose sign-in it is and for nobody else. */
export function connectRoutes(parts: ConnectRouteParts): Route[] {
  const { oauth, findSignedInUser, requirePermission } = parts;

  /** What the address says. Whose sign-in it is says the flow, never the address. */
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

  /** Somebody looks at this in a browser; a program is told as everywhere. */
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
      // Only a person in a browser can say that it is they who want this.
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
 * Asks whether it is really this user who wants to sign in at that server. The form answers with a redirect to the authorization
 * server, which browsers hold to be where the form leads: that, and wherever it sends them on over https, is allowed here alone.
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
 * Whether it is the signed-in user whom a client was told to send to the page of a server. Asked by that page before it offers
 * anything. Nothing is looked up: to others, a server that they do not see and one that they do answer alike.
 */
export function connectLinkRoute({ connectLinks, requirePermission }: ConnectLinkRouteParts): Route {
  return signedInRoute(
    'get',
    '/api/mcp/:serverName/oauth/asked',
    // Of people in a browser: a program has no page to open.
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
  /** The path of the page where this user connects the server. `place`: where the sign-in itself happens. */
  buildConnectPath(caller: Principal, server: string, signInLocation?: unknown): string;
  /** Whether a link to the page of this server was made for this user, and still counts. */
  validate(caller: Principal, server: string, reference: string): 'valid' | 'expired' | 'foreign';
  /** One name for whatever asks this user to connect this server, until they have. */
  computeElicitationId(caller: Principal, server: string): Promise<string>;
}

interface ConnectLinksParts {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly vault: Pick<CredentialVault, 'list'>;
  readonly registry: Pick<Registry, 'find'>;
}

/** A link counts for one of these at least and for two at most: then all calls of that time give the same one. */
const WINDOW_MS = 30 * 60_000;
const REFERENCE_PATTERN = /^([0-9a-z]{1,12})\.(.{1,100})$/;

/**
 * Links that a client shows to its user. Whoever gets hold of one could send it to somebody else, who would then connect an
 * account of theirs without having asked for it: so it names, by a MAC, the one user it is for. It holds no secret, tells
 * nobody who that is, and opens nothing: the page asks who is signed in there. No store is needed: every replica makes the
 * same link, and knows it.
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
      // A sign-in, and its end, are counted: what is asked for after one of them is another matter.
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
