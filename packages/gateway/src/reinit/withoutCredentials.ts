import { listPlaceholders, type ServerSettings, type Template } from '@behalf/settings';
import { isCredentialHeader } from '../registry/credentialHeader.ts';

/**
 * The definition without anything that could identify or authorise anybody: no Authorization, no key header, no value
 * of a user. Null when it cannot be reached that way: a process starts with its secrets, and a URL that names the user
 * leads nowhere without them.
 */
export function withoutCredentials(settings: ServerSettings): ServerSettings | null {
  if (settings.type === 'stdio' || listPlaceholders(settings.url).length > 0) return null;
  const headers = Object.fromEntries(
    Object.entries(settings.headers).filter(
      ([name, value]) => !isCredentialHeader(name, value) && hasNoPlaceholders(value),
    ),
  );
  const { apiKey: _key, ...rest } = settings;
  return { ...rest, headers };
}

function hasNoPlaceholders(template: Template): boolean {
  return listPlaceholders(template).length === 0;
}
