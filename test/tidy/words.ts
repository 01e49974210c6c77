/** Rules about the words of comments and documents. CONTRIBUTING.md has them. */
import { commentsOf, type SourceFile } from "./source-files.ts";

/** A sentence with an unclear subject: "Who has churned cannot churn any more", "What was sent is kept". A question may begin so. */
const unclearSubject =
  /(?:[.!?]\s|\n\n)\s*(?:[-*]\s)?(?:Who|Whoever|Whose|What|Nobody|Somebody|No one|Someone)\b[^.?!]*\??/gm;

/** Decision records and the changelog keep the words of their time. */
const isJudged = (path: string) =>
  /\.(ts|tsx|mjs|css|sh)$|^(docs\/)?[\w-]+\.md$|^client\/README\.md$/.test(path) && path !== "CHANGELOG.md";

/** Sentences of comments and documents whose subject is no thing of the product or of the code, as `path: sentence`. */
export function unclearSentences(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => isJudged(path))
    .flatMap(({ path, text }) =>
      [...`\n\n${proseOf(path, text)}`.matchAll(unclearSubject)]
        .map(([sentence]) => sentence.replace(/^[.!?]\s+/, "").trim())
        .filter((sentence) => !sentence.includes("?"))
        .map((sentence) => `${path}: ${sentence.slice(0, 100)}`),
    );
}

/** Comments as paragraphs without their marks. Documents without code. */
function proseOf(path: string, text: string): string {
  if (path.endsWith(".md")) return text.replace(/```[\s\S]*?```/g, "");
  // The contract's texts are the OpenAPI document.
  const texts = path.startsWith("contract/") ? (text.match(/(?<=")[A-Z][^"\n]* [^"\n]*(?=")/g) ?? []) : [];
  return [commentsOf(text), ...texts.map((each) => `// ${each}`)]
    .join("\n")
    .replace(/^\s*(\/\*\*?|\/\/)\s?/gm, "\n\n")
    .replace(/\n\s*\*\/?\s?/g, " ")
    .replace(/\*\//g, "");
}
