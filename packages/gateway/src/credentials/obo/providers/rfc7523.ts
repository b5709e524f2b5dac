import type { Clock } from '@behalf/kernel';
import type { ExchangeProvider, ExchangeRequest } from '../exchangeProvider.ts';
import { readTokenResponse } from './exchangeResponse.ts';
import {
  type ActorToken,
  type GrantFields,
  type ProviderClient,
  createProviderIdentity,
} from './providerClient.ts';

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** The dependencies that all exchange providers of one `identityProviders` entry share. */
export interface ProviderParts {
  readonly client: ProviderClient;
  readonly actor: ActorToken;
  readonly clock: Clock;
}

/** Sends the user's access token as a JWT bearer assertion (RFC 7523, section 2.1). */
export function createJwtBearerProvider({ client, actor, clock }: ProviderParts): ExchangeProvider {
  const grant = 'jwt-bearer';
  const { isDerived, dpop } = client.settings;
  const identity = createProviderIdentity({ client, actor, grant });
  return {
    get identity() {
      return identity();
    },
    isKeyBound: dpop === 'require',
    async exchange(request, signal) {
      const fields = {
        ...assertionFields(request.subject.token.reveal()),
        // Existing LibreChat configurations rely on this Entra parameter. A declared provider sets it in `parameters`.
        ...(isDerived && { requested_token_use: 'on_behalf_of' }),
        ...requestFields(request),
      };
      const response = await client.postGrant(fields, signal, request.prover);
      return readTokenResponse(response, { clock, grant, isBound: request.prover !== undefined });
    },
  };
}

export function assertionFields(assertion: string): GrantFields {
  return { grant_type: JWT_BEARER, assertion };
}

/** The optional fields that RFC 7523 and RFC 8693 have in common. */
export function requestFields({ scopes, audience, resource, claims }: ExchangeRequest): GrantFields {
  return {
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
    ...(audience !== undefined && { audience }),
    ...(resource !== undefined && { resource }),
    ...(claims !== undefined && { claims }),
  };
}
