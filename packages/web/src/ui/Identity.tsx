import { escapeInvisible } from './escapeInvisible.ts';

/** The title of a tool or server. The ID, which is unique, is in the tooltip; without a title the ID is shown. */
export function TitleOrId({
  name,
  title,
  className,
}: {
  readonly name: string;
  readonly title: string | undefined;
  readonly className?: string | undefined;
}) {
  if (!title || title === name) return <IdText name={name} className={className} />;
  return (
    <bdi className={className} title={escapeInvisible(name)}>
      {escapeInvisible(title)}
    </bdi>
  );
}

/** A server's title, which is free text, and its name, which is unique. */
export function ServerIdentity({
  server,
  title,
  className,
}: {
  readonly server: string;
  readonly title: string;
  readonly className?: string | undefined;
}) {
  return (
    <>
      {title !== server && <bdi className={className}>{escapeInvisible(title)}</bdi>} <IdText name={server} />
    </>
  );
}

/** A tool's title, which its server chooses freely, and its ID, which is unique on its server. */
export function ToolIdentity({ tool, title }: { readonly tool: string; readonly title: string }) {
  return (
    <>
      {title !== '' && title !== tool && <bdi>{escapeInvisible(title)}</bdi>} <IdText name={tool} />
    </>
  );
}

/** A name with isolated text direction and visible control characters, so that it cannot imitate another one. */
export function IdText({
  name,
  className,
}: {
  readonly name: string;
  readonly className?: string | undefined;
}) {
  return (
    <bdi>
      <code className={className}>{escapeInvisible(name)}</code>
    </bdi>
  );
}
