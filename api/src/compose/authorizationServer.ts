import type { AuthorizationServer } from '@behalf/contracts';
import type { Audit, SignInSessions } from '@behalf/gateway';
import {
  createAuthorizationServerKeys,
  createAuthorizationServerRecords,
  createClientGrants,
  createConsents,
  createGrantTokenCallers,
  createIdJagVerifier,
} from '@behalf/gateway/authorization-server';
import { createFlowCookie } from '../http/cookies.ts';
import type { RateLimits } from '../http/limits.ts';
import type { ClientAddressReader } from '../http/request.ts';
import { ALL_SERVERS_PATH, type EndpointResources } from '../http/resourceServer.ts';
import { createFindSignedInUser } from '../http/signedInUser.ts';
import { providerRoutes } from '../routes/authorization-server/endpoints.ts';
import { interactionRoutes } from '../routes/authorization-server/interactions.ts';
import { MCP_SCOPE, MOUNT_PATH, cookieNames } from '../routes/authorization-server/issuer.ts';
import { createClientFetch, createClientFetchLimit } from '../routes/authorization-server/limits.ts';
import {
  createProviderHandler,
  createProviderSource,
} from '../routes/authorization-server/providerSource.ts';
import { createLoginWithClaims } from '../routes/oauth/openId.ts';
import { ownClientRoutes } from '../routes/rest/user.ts';
import { setPeriodic } from '../runtime/lifecycle.ts';
import type { ComposeContext } from './context.ts';
import type { OpenId } from './openId.ts';

const SWEEP_MS = 10 * 60 * 1000;

interface AuthorizationServerParts {
  readonly settings: Readonly<AuthorizationServer>;
  readonly sessions: SignInSessions;
  readonly openId: OpenId | null;
  readonly audit: Audit;
  readonly endpoints: Pick<EndpointResources, 'isEndpoint'>;
  readonly limits: Pick<RateLimits, 'checkAddress' | 'recordRefusal'>;
  readonly clientAddressOf: ClientAddressReader;
}

export type ComposedAuthorizationServer = ReturnType<typeof composeAuthorizationServer>;

/** The gateway's authorization server: its stores, its keys, and its endpoints. */
export function composeAuthorizationServer(context: ComposeContext, parts: AuthorizationServerParts) {
  const { clock, random, keyring, log, logger, primary, coordination, disposables, egress, address } =
    context;
  const { settings, sessions, openId, audit, limits, clientAddressOf } = parts;
  const { isEndpoint: isResource } = parts.endpoints;
  const { users } = primary;
  const { baseUrl, origins, cookie } = address;
  const issuer = () => `${baseUrl()}${MOUNT_PATH}`;
  const records = createAuthorizationServerRecords({ store: primary.authorizationServer, keyring, clock });
  disposables.add(setPeriodic(SWEEP_MS, clock, () => records.sweep()));
  const keys = createAuthorizationServerKeys({ records, changes: coordination.changes, random, clock });
  disposables.add(() => keys.close());
  const grants = createClientGrants({ sessions, clock });
  const consents = createConsents({ records, clock });
  const bearers = createGrantTokenCallers({
    ...{ issuer, isResource, sessions, users, clock, log },
    keys: keys.keySource,
  });
  const issuers = openId?.openIdJagIssuers(settings.idJagIssuers, settings.idJagTenants);
  const idJagVerifier =
    issuers && issuers.size > 0
      ? createIdJagVerifier({ issuers, audience: issuer, isResource, scope: MCP_SCOPE, records, clock, log })
      : null;
  const fetchLimit = createClientFetchLimit(clock, clientAddressOf);
  const providerSource = createProviderSource({
    ...{ settings, issuer, keys, records, grants, users, clock, random, log },
    resources: { isResource, defaultResource: () => `${baseUrl()}${ALL_SERVERS_PATH}` },
    secure: () => origins().secure,
    fetch: createClientFetch({ fetch: egress.documents, fetchLimit, clock }),
    idJags: openId && idJagVerifier && { verifier: idJagVerifier, provisioning: openId.provisioning },
  });
  const browser = openId?.browser ?? null;
  const routes = [
    ...providerRoutes({
      ...{ settings, records, limits, clientAddressOf, clock },
      handleWithProvider: createProviderHandler({
        ...{ providerSource, fetchLimit, issuer },
        sessionCookie: () => cookieNames(origins().secure).session,
      }),
    }),
    ...interactionRoutes({
      ...{ providerSource, fetchLimit, consents, grants, records, audit, settings, cookie },
      findSignedInUser: createFindSignedInUser({ sessions, cookie }),
      login: openId &&
        browser && {
          issuer: openId.login.issuer,
          begin: createLoginWithClaims({ ...browser, logger }),
          cookie: () => createFlowCookie(origins(), browser.callbackPath),
        },
    }),
    ...ownClientRoutes({ consents, grants, audit }),
  ];
  return { issuer, keys, bearers, acceptsIdJags: idJagVerifier !== null, routes };
}
