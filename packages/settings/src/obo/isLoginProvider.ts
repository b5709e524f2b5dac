import { originOf } from '@behalf/contracts';
import type { ProviderSettings } from '../compile/compileProviders.ts';
import { findMicrosoftCloud } from './login.ts';

type ProviderUrls = Pick<ProviderSettings, 'authority' | 'issuer' | 'tokenEndpoint'>;

/**
 * Whether a provider is where people sign in, so that the login's client is known there. Anywhere else its id would be
 * nobody's, and its secret would be told to a stranger.
 */
export function isLoginProvider(
  { authority, issuer, tokenEndpoint }: ProviderUrls,
  loginIssuer: string,
): boolean {
  return [authority, issuer, tokenEndpoint].every(
    (url) => url === undefined || isSameProvider(url, loginIssuer),
  );
}

function isSameProvider(url: string, loginIssuer: string): boolean {
  const origin = originOf(url);
  if (origin !== undefined && origin === originOf(loginIssuer)) return true;
  // Entra goes by several names: one that issues tokens, another that gives them.
  const cloud = findMicrosoftCloud(url);
  return cloud !== undefined && cloud === findMicrosoftCloud(loginIssuer);
}
