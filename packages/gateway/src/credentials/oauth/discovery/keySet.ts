import { endpointOriginsOf, type IssuerSettings } from '../issuerSettings.ts';
import { originOf } from '../safeUrl.ts';
import type { AuthorizationServerMetadata } from './authorizationServerMetadata.ts';

/** Whether its key set stands where its endpoints may: what an issuer names elsewhere is not asked for on its word. */
export function hasTrustedKeySet(
  { issuer, jwksUri }: AuthorizationServerMetadata,
  issuerSettings: IssuerSettings,
): boolean {
  if (jwksUri === null) return true;
  return [originOf(issuer), ...endpointOriginsOf(issuerSettings, issuer)].includes(originOf(jwksUri));
}
