import { originOf } from '@behalf/contracts';
import type { ProviderSettings } from '../compile/compileProviders.ts';
import { microsoftCloud } from './login.ts';

type Places = Pick<ProviderSettings, 'authority' | 'issuer' | 'tokenEndpoint'>;

/**
 * Whether a provider is where people sign in, so that the login's client is known there. Anywhere else its id would be
 * nobody's, and its secret would be told to a stranger.
 */
export function isAtLogin({ authority, issuer, tokenEndpoint }: Places, loginIssuer: string): boolean {
  return [authority, issuer, tokenEndpoint].every(
    (place) => place === undefined || isSamePlace(place, loginIssuer),
  );
}

function isSamePlace(place: string, loginIssuer: string): boolean {
  const origin = originOf(place);
  if (origin !== undefined && origin === originOf(loginIssuer)) return true;
  // Entra goes by several names: one that issues tokens, another that gives them.
  const cloud = microsoftCloud(place);
  return cloud !== undefined && cloud === microsoftCloud(loginIssuer);
}
