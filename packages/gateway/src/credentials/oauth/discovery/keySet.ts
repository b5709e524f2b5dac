import { listEndpointOrigins, type IssuerSettings } from '../issuerSettings.ts';
import { getOrigin } from '../safeUrl.ts';
import type { AuthorizationServerMetadata } from './authorizationServerMetadata.ts';

/** Whether its key set stands where its endpoints may: what an issuer names elsewhere is not asked for on its word. */
export function hasTrustedKeySet(
  { issuer, jwksUri }: AuthorizationServerMetadata,
  issuerSettings: IssuerSettings,
): boolean {
  if (jwksUri === null) return true;
  return [getOrigin(issuer), ...listEndpointOrigins(issuerSettings, issuer)].includes(getOrigin(jwksUri));
}
