import type { AuthorizationServer } from '@behalf/contracts';
import { type Audit, GatewayError, type UserPrincipal, toReturnPath } from '@behalf/gateway';
import {
  type AuthorizationServerRecords,
  type ClientGrants,
  type Consents,
  GRANT_LIFETIME_MS,
  grantSessionHash,
} from '@behalf/gateway/authorization-server';
import type { Request, Response } from 'express';
import type { FlowCookie, SessionCookie } from '../../http/cookies.ts';
import { type Route, publicRoute, signedInRoute } from '../../http/route.ts';
import { type FindSignedInUser, redirectToSignIn } from '../../http/signedInUser.ts';
import type { LoginWithClaims } from '../oauth/openId.ts';
import {
  type Interaction,
  connectionFailedPage,
  consentPage,
  consentPolicy,
  createConsentToken,
  toInteraction,
} from './consent.ts';
import { MCP_SCOPE, MOUNT_PATH } from './issuer.ts';
import { type ClientFetchLimit, UNUSED_CLIENT_TTL_MS } from './limits.ts';
import type { ProviderSource } from './providerSource.ts';

interface InteractionRouteParts {
  readonly providerSource: ProviderSource;
  readonly fetchLimit: Pick<ClientFetchLimit, 'runForRequest'>;
  readonly consents: Consents;
  readonly grants: ClientGrants;
  readonly records: Pick<AuthorizationServerRecords, 'find' | 'put'>;
  readonly audit: Audit;
  readonly settings: Readonly<Pick<AuthorizationServer, 'clients'>>;
  readonly findSignedInUser: FindSignedInUser;
  readonly cookie: () => SessionCookie;
  /** The login at the identity provider; null without one. */
  readonly login: {
    readonly issuer: string;
    readonly begin: LoginWithClaims;
    readonly cookie: () => FlowCookie;
  } | null;
}

/** The interaction has expired, or its client cannot be loaded any more. */
const EXPIRED_ERROR_NAMES: ReadonlySet<string> = new Set([
  'SessionNotFound',
  'InvalidClient',
  'InvalidClientMetadata',
]);

/**
 * The interaction of an authorization request: sign-in at the gateway, consent, and, with an identity provider, a login there
 * for this grant. The consent comes before the login, so that a link cannot lead users through a login that they did not
 * request.
 */
export function interactionRoutes(parts: InteractionRouteParts): Route[] {
  const {
    providerSource,
    fetchLimit,
    consents,
    grants,
    records,
    audit,
    findSignedInUser,
    cookie,
    settings,
    login,
  } = parts;
  const path = `${MOUNT_PATH}/interaction/:uid`;

  /** The interaction of this browser, by its cookie; null if it has expired or belongs to another URL. */
  async function findInteraction(req: Request, res: Response): Promise<Interaction | null> {
    const provider = await providerSource.getProvider();
    try {
      const details = await provider.interactionDetails(req, res);
      if (details.uid !== req.params['uid']) return null;
      const clientId = String(details.params['client_id']);
      const client = await fetchLimit.runForRequest(req, () => provider.Client.find(clientId));
      if (!client) return null;
      const isOperatorClient = Object.hasOwn(settings.clients, client.clientId);
      return { provider, client, ...toInteraction(details, client, isOperatorClient) };
    } catch (error) {
      if (error instanceof Error && EXPIRED_ERROR_NAMES.has(error.name)) return null;
      throw error;
    }
  }

  function sendExpired(res: Response): void {
    res.status(400).type('html').send(connectionFailedPage('expired'));
  }

  const consentKey = (
    { tenant, userId }: UserPrincipal,
    { clientId, redirectHost, resources }: Interaction,
  ) => ({ ...{ tenant, userId, clientId, redirectHost, resources } });

  function sendConsentPage(
    req: Request,
    res: Response,
    caller: UserPrincipal,
    interaction: Interaction,
  ): void {
    const token = createConsentToken(interaction.uid, cookie().read(req) ?? '');
    const identityProviderOrigin = login && new URL(login.issuer).origin;
    res
      .set('Content-Security-Policy', consentPolicy(interaction.redirectUri, identityProviderOrigin))
      .type('html')
      .send(consentPage({ ...interaction, token, userName: caller.name || caller.email }));
  }

  /** Creates the grant. A user of the identity provider logs in there first, so that the grant gets separate tokens. */
  async function grantAccess(req: Request, res: Response, caller: UserPrincipal, interaction: Interaction) {
    const { uid, clientId } = interaction;
    if (login?.issuer === caller.issuer) {
      const grant = { session: grantSessionHash(uid), clientId };
      const returnTo = toReturnPath(`${MOUNT_PATH}/interaction/${uid}`);
      // Pending claims challenges are requested in this login, so that the new grant satisfies them.
      const started = await login.begin(returnTo, async () => caller, { grant });
      login.cookie().write(res, started);
      res.redirect(req.method === 'POST' ? 303 : 302, started.url);
      return;
    }
    if (caller.authentication.via !== 'session') throw new GatewayError('FORBIDDEN');
    const { userId: id, tenant, groups } = caller;
    // A repeated submission must not create a second grant.
    if (!(await grants.find(uid))) {
      await grants.create(
        { id, tenant },
        { grantId: uid, clientId, from: caller.authentication.session, groups },
      );
    }
    await finishInteraction(req, res, caller, interaction);
  }

  async function finishInteraction(
    req: Request,
    res: Response,
    caller: UserPrincipal,
    interaction: Interaction,
  ) {
    const { provider, uid, clientId, resources, scopes } = interaction;
    const grant = new provider.Grant({ accountId: caller.userId, clientId });
    grant.jti = uid;
    for (const resource of resources) grant.addResourceScope(resource, MCP_SCOPE);
    grant.addOIDCScope(scopes.join(' '));
    await grant.save();
    await extendClientLifetime(clientId);
    const { tenant, userId } = caller;
    await audit.record({
      ...{ kind: 'sign_in', action: 'client.grant', tenant, door: 'browser', outcome: 'ok', subject: userId },
      actor: { kind: 'user', id: userId, by: 'session' },
      changed: [clientId],
    });
    const login = { accountId: userId, remember: false };
    const result = { login, consent: { grantId: uid } };
    await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
  }

  /** Keeps a dynamically registered client for the lifetime of the grant plus one day. */
  async function extendClientLifetime(clientId: string): Promise<void> {
    const registered = await records.find<object>('Client', clientId);
    if (!registered) return;
    await records.put('Client', clientId, registered.payload, {
      ttlMs: GRANT_LIFETIME_MS + UNUSED_CLIENT_TTL_MS,
    });
  }

  return [
    publicRoute('get', path, async (req, res) => {
      const interaction = await findInteraction(req, res);
      if (!interaction) {
        sendExpired(res);
        return;
      }
      const caller = await findSignedInUser(req);
      if (!caller) {
        redirectToSignIn(req, res);
        return;
      }
      const existingGrant = await grants.find(interaction.uid);
      if (existingGrant) {
        // The browser returns from the login at the identity provider. The grant must belong to this user and this client.
        const isOwnGrant =
          existingGrant.userId === caller.userId && existingGrant.grant?.clientId === interaction.clientId;
        if (isOwnGrant) await finishInteraction(req, res, caller, interaction);
        else sendExpired(res);
        return;
      }
      // Consent for local programs is not remembered, because another local program could use it.
      const hasConsent =
        !interaction.isLocalRedirect && (await consents.hasConsent(consentKey(caller, interaction)));
      if (hasConsent) await grantAccess(req, res, caller, interaction);
      else sendConsentPage(req, res, caller, interaction);
    }),
    signedInRoute(
      'post',
      path,
      // Scope `none`: consent requires a browser session.
      'none',
      async (req, res, caller) => {
        const interaction = await findInteraction(req, res);
        if (!interaction) {
          sendExpired(res);
          return;
        }
        const { token, decision } = (req.body ?? {}) as Record<string, unknown>;
        if (token !== createConsentToken(interaction.uid, cookie().read(req) ?? '')) {
          throw new GatewayError('CSRF_REFUSED');
        }
        if (decision !== 'allow') {
          const denial = { error: 'access_denied', error_description: 'The user denied access.' };
          await interaction.provider.interactionFinished(req, res, denial);
          return;
        }
        await consents.record(consentKey(caller, interaction), interaction.clientName);
        await grantAccess(req, res, caller, interaction);
      },
    ),
  ];
}
