import { escapeInvisible } from './escapeInvisible.ts';

/** A name that must be told from others: each by itself, and nothing hidden in it. */
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
