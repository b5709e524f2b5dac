export interface ParsedUrl {
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly hostname: string;
  readonly port: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
  readonly origin: string;
  readonly href: string;
}

/** Every runtime this code meets (browsers, Node) has it, but no ECMAScript library declares it. */
declare const URL: { new (text: string): ParsedUrl; canParse(text: string): boolean };

export function parseUrl(text: string): ParsedUrl | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
