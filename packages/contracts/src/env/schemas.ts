import { z } from 'zod';
import { isLoopbackHost } from '../config/isLoopbackHost.ts';
import { parseUrl } from '../config/parseUrl.ts';

/** The key of LibreChat's own example file. Everyone has it, so nothing sealed with it is sealed. */
const EXAMPLE_FILE_KEY = 'f34be427ebb29de8d88c107a71546019685ed8b241d8f2ed00c3df97ad2566f0';

export const keys = z.string().transform((value, context) => {
  const list = value.split(',').map((key) => key.trim().toLowerCase());
  if (list.some((key) => !/^[0-9a-f]{64}$/.test(key))) {
    context.addIssue(
      'must be 64 hexadecimal characters, or several such keys separated by commas; create one with: openssl rand -hex 32',
    );
  } else if (list.includes(EXAMPLE_FILE_KEY)) {
    context.addIssue('is the key of a public example file; create your own with: openssl rand -hex 32');
  }
  return list;
});

export const issuer = z
  .string()
  .refine((value) => {
    const url = parseUrl(value);
    return (
      url !== undefined &&
      (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname)))
    );
  }, 'must be an https URL; plain http is accepted on loopback only')
  // Some set-ups give the discovery document where the issuer is meant.
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
      // Nobody can be told from such a host, ourselves included.
      !/^\.|\.\./.test(url.hostname)
    );
  }, 'must be an http or https URL without query, fragment and user name')
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

export const callback = z
  .string()
  .refine(
    (value) => /^\/(?!\/)/.test(value) || /^https?:$/.test(parseUrl(value)?.protocol ?? ''),
    'must be a path beginning with / or a URL',
  );

export const file = z
  .string()
  .refine((value) => !/^[a-z][a-z0-9+.-]+:\/\//i.test(value), 'must be the path of a file, not a URL');

export const hostName = z
  .string()
  .regex(/^[^\s/]+$/, 'must be a host name or an IP address, without scheme and path');

/** Short ones are guessed; others cannot stand in a header. */
export const token = z
  .string()
  .regex(/^[A-Za-z0-9._~+/=-]{16,}$/, 'must be at least 16 characters that are valid in a bearer token');
