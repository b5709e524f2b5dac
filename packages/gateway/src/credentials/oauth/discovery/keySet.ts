import { endpointOriginsOf, type IssuerBook } from '../issuerBook.ts';
import { originOf } from '../safeUrl.ts';
import type { AuthorizationServer } from './authorizationServer.ts';

/** Whether its key set stands where its endpoints may: what an issuer names elsewhere is not asked for on its word. */
export function hasOwnKeySet({ issuer, jwksUri }: AuthorizationServer, book: IssuerBook): boolean {
  if (jwksUri === null) return true;
  return [originOf(issuer), ...endpointOriginsOf(book, issuer)].includes(originOf(jwksUri));
}
