import { FlowStatusQuery, type FlowView, StartFlowRequest, draftPrefix } from '@behalf/contracts';
import {
  type AccessParts,
  type AllowedServer,
  type Audit,
  GatewayError,
  type OAuthServices,
  type ServerDrafts,
  type ServerLookupParts,
  type UserPrincipal,
  findServer,
} from '@behalf/gateway';
import { type AttemptCookies, createAttemptCookies } from '../../http/cookies.ts';
import type { Origins } from '../../http/origins.ts';
import { callerDisconnect, parseBody, readBody } from '../../http/request.ts';
import { type Route, signedInRoute } from '../../http/route.ts';

/** Starts, follows and cancels sign-ins at servers. */
export function flowRoutes(parts: ServerSignInParts): Route[] {
  const { oauth, requirePermission } = parts;
  const { flows } = oauth;
  return [
    signedInRoute('post', '/api/mcp/:serverName/oauth/start', 'mcp', async (req, res, caller) => {
      const { serverName } = req.params;
      const { returnTo, label, scopes } = readBody(req, StartFlowRequest);
      const server = await findSignInServer(parts, caller, serverName);
      // With an API key, the browser that continues the flow is not known yet; the connect page asks for confirmation there.
      const bindsBrowser = caller.authentication.via === 'session';
      const { flow, isJoined, browserSecret } = await flows.start(server, caller, {
        returnTo,
        label,
        bindsBrowser,
        widenedScopes: scopes,
      });
      if (browserSecret !== undefined) attemptCookies(parts).write(res, { ...flow, browserSecret });
      if (isJoined) throw new GatewayError('MCP_FLOW_PENDING', { flow });
      res.status(201).json(flow satisfies FlowView);
    }),
    signedInRoute(
      'post',
      '/api/mcp/:serverName/oauth/bind',
      // Scope `none`: binding sets a cookie.
      'none',
      async (req, res, caller) => {
        const { serverName } = req.params;
        const attempt = await flows.bind(await findSignInServer(parts, caller, serverName), caller);
        attemptCookies(parts).write(res, attempt);
        res.json({ success: true });
      },
    ),
    signedInRoute('post', '/api/mcp/oauth/cancel/:serverName', 'mcp', async (req, res, caller) => {
      const { serverName } = req.params;
      const cancelled = await flows.cancel(await findSignInServer(parts, caller, serverName), caller);
      const message = cancelled ? 'OAuth flow cancelled successfully' : 'No active OAuth flow to cancel';
      res.json({ success: true, message });
    }),
    signedInRoute('get', '/api/mcp/oauth/status/:flowId', 'mcp', async (req, res, caller) => {
      requirePermission()(caller, 'USE');
      const { flowId } = req.params;
      const { wait: waitMs } = parseBody(req.query, FlowStatusQuery);
      res.json(await flows.readStatus(caller, flowId, { waitMs, signal: callerDisconnect(res) }));
    }),
    signedInRoute('get', '/api/mcp/oauth/tokens/:flowId', 'mcp', async (req, res, caller) => {
      requirePermission()(caller, 'USE');
      const { flowId } = req.params;
      res.json(await flows.readTokens(caller, flowId));
    }),
  ];
}

/** Shared by all routes of sign-ins at servers. */
export interface ServerSignInParts extends ServerLookupParts, AccessParts {
  readonly oauth: OAuthServices;
  readonly drafts: Pick<ServerDrafts, 'authorize'>;
  readonly audit: Pick<Audit, 'record' | 'note'>;
  readonly origins: () => Origins;
}

export function attemptCookies({ origins }: Pick<ServerSignInParts, 'origins'>): AttemptCookies {
  return createAttemptCookies(origins());
}

/** The server or draft with this name, if the caller may sign in there. */
export async function findSignInServer(
  parts: ServerSignInParts,
  principal: UserPrincipal,
  name: string,
): Promise<AllowedServer> {
  return name.startsWith(draftPrefix)
    ? parts.drafts.authorize(principal, name)
    : findServer(parts, principal, name);
}
