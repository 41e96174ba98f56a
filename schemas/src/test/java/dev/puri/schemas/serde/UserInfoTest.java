package dev.puri.schemas.serde;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class UserInfoTest {
    @Test
    void everyUrlOfATextLosesItsUserInfo() {
        assertThat(UserInfo.masked("http://ann:secret@a:8081/v7,https://bob:hidden@b"))
                .isEqualTo("http://***@a:8081/v7,https://***@b");
    }

    @Test
    void aPasswordThatIsNotEncodedIsMaskedWhole() {
        assertThat(UserInfo.masked("http://ann:p@ss/w ord#@a:8081")).isEqualTo("http://***@a:8081");
    }

    @Test
    void textWithoutUserInfoIsUnchanged() {
        assertThat(UserInfo.masked("http://a:8081/v7,http://b")).isEqualTo("http://a:8081/v7,http://b");
        assertThat(UserInfo.masked("a:9092,b:9092")).isEqualTo("a:9092,b:9092");
        assertThat(UserInfo.masked("ann@example.org")).isEqualTo("ann@example.org");
    }
}
