import { z } from 'zod';
import { isLoopbackHost, parseUrl } from '../config/url.ts';

/** The definition of an environment variable. The schema, `.env.example` and the reference are generated from it. */
export interface Variable<S extends z.ZodType = z.ZodType> {
  /** Parses the text of the variable. An empty text counts as unset and is never passed. */
  schema: S;
  /** The type in words. */
  type: string;
  description: string;
  /** The value, as text, if the variable is unset. */
  default?: string;
  /** Contains a key, a password or a connection string: never shown, never substituted in the YAML file. */
  secret: boolean;
  /** LibreChat has a variable with the same name. */
  librechat: boolean;
  /** Another name, read if this one is unset. */
  alias?: string;
}

export type VariableGroup<T extends Record<string, Variable>> = { title: string; variables: T };

type VariableOptions = Partial<Pick<Variable, 'default' | 'secret' | 'librechat' | 'alias'>>;

function createVariable<S extends z.ZodType, F extends VariableOptions>(
  type: string,
  schema: S,
  description: string,
  options: F,
) {
  return { secret: false, librechat: false, ...options, type, schema, description };
}

export const textVariable = <F extends VariableOptions>(description: string, options: F) =>
  createVariable('text', z.string(), description, options);

export const enumVariable = <const V extends readonly [string, ...string[]], F extends VariableOptions>(
  values: V,
  description: string,
  options: F,
) =>
  createVariable(
    values.join(' \\| '),
    z.enum(values, `must be one of ${values.join(', ')}`),
    description,
    options,
  );

export const booleanVariable = <F extends VariableOptions>(description: string, options: F) =>
  createVariable(
    'true \\| false',
    z
      .string()
      .regex(/^(true|false|1|0)$/i, 'must be true or false')
      .transform((value) => /^(true|1)$/i.test(value)),
    description,
    options,
  );

/** An integer, also as a product (`15 * 60 * 1000`), as LibreChat writes durations. */
export const numberVariable = <F extends VariableOptions>(
  min: number,
  max: number,
  description: string,
  options: F,
) =>
  createVariable(
    'whole number',
    z
      .string()
      .regex(/^\d{1,15}(\s*\*\s*\d{1,15})*$/, 'must be a whole number')
      .transform((value) => value.split('*').reduce((product, factor) => product * Number(factor), 1))
      .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`),
    description,
    options,
  );

export const customVariable = <S extends z.ZodType, F extends VariableOptions>(
  type: string,
  schema: S,
  description: string,
  options: F,
) => createVariable(type, schema, description, options);

/** The key of LibreChat's example file. It is public, so encryption with it protects nothing. */
const PUBLIC_EXAMPLE_KEY = 'f34be427ebb29de8d88c107a71546019685ed8b241d8f2ed00c3df97ad2566f0';

export const credentialKeys = z.string().transform((value, context) => {
  const keyList = value.split(',').map((key) => key.trim().toLowerCase());
  if (keyList.some((key) => !/^[0-9a-f]{64}$/.test(key))) {
    context.addIssue(
      'must be 64 hexadecimal characters, or several such keys separated by commas; create one with: openssl rand -hex 32',
    );
  } else if (keyList.includes(PUBLIC_EXAMPLE_KEY)) {
    context.addIssue('is a published example key; create another key with: openssl rand -hex 32');
  }
  return keyList;
});

export const issuerUrl = z
  .string()
  .refine((value) => {
    const url = parseUrl(value);
    return (
      url !== undefined &&
      (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname)))
    );
  }, 'must be an https URL; plain http is accepted on loopback only')
  // Some deployments set the URL of the discovery document instead of the issuer.
  .transform((value) => value.replace(/\/\.well-known\/openid-configuration$/, ''));

export const publicUrl = z
  .string()
  .refine((value) => {
    const url = parseUrl(value);
    return (
      url !== undefined &&
      /^https?:$/.test(url.protocol) &&
      url.search === '' &&
      url.hash === '' &&
      url.username === '' &&
      // An empty label or a leading dot makes the host ambiguous.
      !/^\.|\.\./.test(url.hostname)
    );
  }, 'must be an http or https URL without query, fragment or user name')
  .transform((value) => value.replace(/\/+$/, ''));

export const mongoUri = z
  .string()
  .regex(/^mongodb(\+srv)?:\/\/[^/]/, 'must begin with mongodb:// or mongodb+srv://');

export const redisUri = z
  .string()
  .refine((value) => !value.includes(','), 'must be one URI: Redis clusters are not supported')
  .refine(
    (value) => /^rediss?:$/.test(parseUrl(value)?.protocol ?? ''),
    'must begin with redis:// or rediss://',
  );

export const proxyUrl = z
  .string()
  .refine(
    (value) => /^(https?|socks5?):$/.test(parseUrl(value)?.protocol ?? ''),
    'must be an http, https, socks or socks5 URL',
  );

export const redirectUri = z
  .string()
  .refine(
    (value) => /^\/(?!\/)/.test(value) || /^https?:$/.test(parseUrl(value)?.protocol ?? ''),
    'must be a path beginning with / or a URL',
  );

export const filePath = z
  .string()
  .refine((value) => !/^[a-z][a-z0-9+.-]+:\/\//i.test(value), 'must be a file path, not a URL');

export const hostName = z
  .string()
  .regex(/^[^\s/]+$/, 'must be a host name or an IP address, without scheme or path');

/** Short tokens can be guessed. Other characters are not allowed in a header. */
export const bearerToken = z
  .string()
  .regex(
    /^[A-Za-z0-9._~+/=-]{16,}$/,
    'must have at least 16 characters, all of them valid in a bearer token',
  );
