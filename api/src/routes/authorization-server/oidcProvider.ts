/**
 * Loads oidc-provider without its warning about the Node version: it recommends Node 22 and works on 20.19, our minimum.
 * Other warnings pass.
 */
const { warn } = console;
console.warn = (...args: unknown[]) => {
  if (!String(args[0]).includes('Unsupported runtime')) warn(...args);
};
const library = await import('oidc-provider');
console.warn = warn;

export const { default: Provider, errors } = library;
export type Provider = InstanceType<typeof Provider>;
